#!/bin/sh
# A DBA's question: what will surprise me with MySQL 8.0? Her my.cnf, slow log, schema and rows; some ten minutes.
#   ./upgrade.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-upgrade}
mkdir "$folder"
cp "$here/my.cnf" "$here/schema.sql" "$folder"
python3 "$here/rows.py" "$folder" ${ROWS:-2000 20000}       # stands for an export of hers

# a test of each statement of the slow log; then where tables and rows come from
${DBVERSUS:-dbversus} suites from-statements "$here/slow.log" -o "$folder/shop.toml"
cat "$here/tables.toml" >>"$folder/shop.toml"

${DBVERSUS:-dbversus} upgrade "${OLD:-mysql:5.7}" "${NEW:-mysql:8.0}" --config "$folder/my.cnf" --suite "$folder/shop.toml" \
    --tests "${TESTS:-*}" --profile "${PROFILE:-quick}" --time-budget "${BUDGET:-8m}" --out "$folder/results" --quiet
cat "$folder/results/upgrade.md"
