"""The shop's rows: customers.csv and orders.csv, into the folder that is named."""

import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

CITIES = ("Köln", "Łódź", "Oslo", "Paris", "Roma", "São Paulo", "Wien", "Zürich")
STATUS = ("new", "paid", "sent", "returned")


def main(folder: Path, customers: int, orders: int) -> None:
    draw = random.Random(1)  # the same rows each time
    with (folder / "customers.csv").open("w", encoding="utf-8") as file:
        file.write("id,email,name,city\n")
        for number in range(1, customers + 1):
            file.write(f"{number},c{number}@example.com,Jürgen {number},{draw.choice(CITIES)}\n")
    begin = datetime(2024, 1, 1)
    with (folder / "orders.csv").open("w", encoding="utf-8") as file:
        file.write("id,customer_id,status,placed_at,total,note\n")
        for number in range(1, orders + 1):
            placed_at = begin + timedelta(minutes=number)
            total = draw.randrange(100, 50_000) / 100
            customer = draw.randint(1, customers)
            file.write(f"{number},{customer},{draw.choice(STATUS)},{placed_at},{total:.2f},\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
