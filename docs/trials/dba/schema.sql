CREATE TABLE customers (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  email VARCHAR(100) NOT NULL,
  name VARCHAR(80) CHARACTER SET latin1 NOT NULL,
  city VARCHAR(40) NOT NULL,
  UNIQUE KEY customers_email (email)
) ENGINE=InnoDB DEFAULT CHARSET=utf8;

CREATE TABLE orders (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer_id INT NOT NULL,
  status ENUM('new', 'paid', 'sent', 'returned') NOT NULL DEFAULT 'new',
  placed_at DATETIME NOT NULL,
  total DECIMAL(10,2) NOT NULL,
  note VARCHAR(200) DEFAULT NULL,
  KEY orders_customer (customer_id),
  KEY orders_status (status, placed_at),
  CONSTRAINT orders_fk FOREIGN KEY (customer_id) REFERENCES customers (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8;
