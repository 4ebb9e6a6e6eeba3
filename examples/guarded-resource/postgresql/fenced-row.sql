-- A row that carries its own fence needs no table and no transaction beside it: no row returned means stale.
-- A row belongs to one semaphore and slot.
CREATE TABLE page (
  id    text   PRIMARY KEY,
  body  text   NOT NULL,
  fence bigint NOT NULL
);
