INSERT INTO page AS known (id, body, fence) VALUES ($1, $2, $3)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, fence = excluded.fence
WHERE known.fence <= excluded.fence
RETURNING id;
