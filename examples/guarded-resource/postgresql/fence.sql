-- One row per semaphore and slot, whatever it guards.
CREATE TABLE fence (
  semaphore text   NOT NULL,
  slot      int    NOT NULL,
  token     bigint NOT NULL,
  PRIMARY KEY (semaphore, slot)
);

CREATE TABLE report (
  id   text PRIMARY KEY,
  body text NOT NULL
);
