// What a team writes that keeps XState snapshots in PostgreSQL by hand: one transaction for each event, with the
// event's key unique within its loan. A repeat of a key gets the first answer again.
import { createServer } from "node:http";
import pg from "pg";
import { afterEvent, newLoan } from "../loan.js";

const SCHEMA = `
CREATE TABLE loans (
  id text PRIMARY KEY,
  seq integer NOT NULL,
  state text NOT NULL,
  context json NOT NULL
);
CREATE TABLE loan_events (
  loan_id text NOT NULL,
  key text NOT NULL,
  seq integer NOT NULL,
  event json NOT NULL,
  answer json NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (loan_id, key)
);`;
const CREATE = {
  name: "create",
  text: `WITH loan AS (INSERT INTO loans (id, seq, state, context) VALUES ($1, $2, $3, $4))
    INSERT INTO loan_events (loan_id, key, seq, event, answer) VALUES ($1, $5, $2, $6, $7)`,
};
const LOCK = {
  name: "lock",
  text: "SELECT seq, state, context FROM loans WHERE id = $1 FOR UPDATE",
};
const STEP = {
  name: "step",
  text: `WITH loan AS (UPDATE loans SET seq = $2, state = $3, context = $4 WHERE id = $1)
    INSERT INTO loan_events (loan_id, key, seq, event, answer) VALUES ($1, $5, $2, $6, $7)`,
};
const ANSWERED = {
  name: "answered",
  text: "SELECT answer FROM loan_events WHERE loan_id = $1 AND key = $2",
};
const READ = { name: "read", text: "SELECT seq, state, context FROM loans WHERE id = $1" };
const UNIQUE_VIOLATION = "23505";
const PATH = /^\/instances\/([\w.:-]+)(\/events)?$/;

const pool = new pg.Pool({ max: Number(process.env.BENCH_CONNECTIONS) });

/** One statement, so one transaction. */
async function create(id, key, event) {
  const loan = newLoan();
  const answer = { id, seq: 1, state: loan.state };
  await pool.query(CREATE, values(id, key, event, loan, answer));
  return [201, answer];
}

async function take(id, key, event) {
  return transaction(async (client) => {
    const row = (await client.query(LOCK, [id])).rows[0];
    if (row === undefined) return [404, {}];
    const loan = afterEvent(row, event);
    const answer = { id, seq: row.seq + 1, state: loan.state };
    await client.query(STEP, values(id, key, event, loan, answer));
    return [200, answer];
  });
}

async function transaction(work) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

function values(id, key, event, { state, context }, answer) {
  const [contextJson, eventJson, answerJson] = [context, event, answer].map((it) =>
    JSON.stringify(it),
  );
  return [id, answer.seq, state, contextJson, key, eventJson, answerJson];
}

async function onceByKey(id, key, work) {
  try {
    return await work();
  } catch (error) {
    if (error.code !== UNIQUE_VIOLATION) throw error;
    return [200, (await pool.query(ANSWERED, [id, key])).rows[0].answer];
  }
}

async function read(id) {
  const row = (await pool.query(READ, [id])).rows[0];
  return row === undefined ? [404, {}] : [200, { id, ...row }];
}

async function answerTo({ method, url, headers }, body) {
  const [, id, events] = PATH.exec(url) ?? [];
  if (id === undefined) return [200, { status: "ok" }];
  if (method === "GET") return read(id);
  const key = headers["idempotency-key"];
  const work = events === undefined ? create : take;
  return onceByKey(id, key, () => work(id, key, JSON.parse(body)));
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    answerTo(request, Buffer.concat(chunks).toString())
      .catch((error) => [500, { error: String(error) }])
      .then(([status, body]) => {
        const text = JSON.stringify(body);
        response.writeHead(status, {
          "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(text),
        });
        response.end(text);
      });
  });
});

await pool.query(SCHEMA);
server.keepAliveTimeout = 0;
server.listen(Number(process.env.BENCH_PORT), "127.0.0.1");
