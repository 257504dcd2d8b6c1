import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'

/** libSQL's protocol over HTTP, `POST /v2/pipeline` and `/v3/cursor`, over a database in memory. */
export interface HranaServer {
  url: string
  /** The requests so far. */
  requests: number
  /** What happens to the next requests instead: the connection is closed before or after they run. */
  faults: Array<'cut before' | 'cut after'>
  close(): Promise<void>
}

interface Value {
  type: string
  value?: string | number
  base64?: string
}

interface Statement {
  sql: string
  args?: Value[]
  named_args?: Array<{ name: string; value: Value }>
}

interface Step {
  stmt: Statement
  condition?: object | null
}

export async function startHrana(): Promise<HranaServer> {
  const database = new DatabaseSync(':memory:')

  function execute({ sql, args = [], named_args = [] }: Statement) {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    const columns = statement.columns()
    const named = Object.fromEntries(named_args.map(({ name, value }) => [name, decode(value)]))
    const values = [...(named_args.length > 0 ? [named] : []), ...args.map(decode)]
    const rows = statement.all(...(values as never[])) as Array<Record<string, unknown>> // node:sqlite types its values narrowly
    const changes = database.prepare('SELECT changes() AS changes').get() as { changes: number }
    return {
      cols: columns.map(({ name, type }) => ({ name, decltype: type })),
      rows: rows.map((row) => columns.map(({ name }) => encode(row[name]))),
      affected_row_count: changes.changes,
      last_insert_rowid: null,
    }
  }

  const attempt = <T>(work: () => T) => {
    try {
      return { ok: work() }
    } catch (error) {
      const { message } = error as Error
      return { error: { message: `SQLite error: ${message}`, code: 'SQLITE_UNKNOWN' } }
    }
  }

  function runRequest(request: { type: string; stmt?: Statement; batch?: { steps: Step[] } }) {
    const { type, stmt, batch } = request
    if (type === 'close') return { type: 'ok', response: { type } }
    if (type === 'execute' && stmt) {
      const { ok, error } = attempt(() => execute(stmt))
      return error ? { type: 'error', error } : { type: 'ok', response: { type, result: ok } }
    }
    if (type === 'batch' && batch) {
      const results = batch.steps.map((step) => attempt(() => execute(step.stmt)))
      const result = {
        step_results: results.map(({ ok }) => ok ?? null),
        step_errors: results.map(({ error }) => error ?? null),
      }
      return { type: 'ok', response: { type, result } }
    }
    if (type === 'get_autocommit') return { type: 'ok', response: { type, is_autocommit: true } }
    return { type: 'error', error: { message: `unknown request ${type}`, code: 'HRANA_PROTO_ERROR' } }
  }

  function runCursor(steps: Step[]): string {
    const lines: object[] = [{ baton: null, base_url: null }]
    for (const [step, { stmt }] of steps.entries()) {
      const { ok, error } = attempt(() => execute(stmt))
      if (error) lines.push({ type: 'step_error', step, error })
      if (!ok) continue
      lines.push({ type: 'step_begin', step, cols: ok.cols })
      for (const row of ok.rows) lines.push({ type: 'row', row })
      lines.push({ type: 'step_end', affected_row_count: ok.affected_row_count, last_insert_rowid: null })
    }
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  const server = createServer(async (request, response) => {
    if (request.method === 'GET')
      return void response.writeHead(request.url === '/v3' || request.url === '/v2' ? 200 : 404).end()
    state.requests++
    const fault = state.faults.shift()
    const body = await text(request)
    if (fault === 'cut before') return void request.socket.destroy()
    const parsed = JSON.parse(body)
    const isCursor = request.url === '/v3/cursor'
    const reply = isCursor
      ? runCursor(parsed.batch.steps)
      : JSON.stringify({ baton: null, base_url: null, results: parsed.requests.map(runRequest) })
    if (fault === 'cut after') return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': randomUUID() }).end(reply)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const state: HranaServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    faults: [],
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      database.close()
    },
  }
  return state
}

function decode({ type, value, base64 }: Value): unknown {
  if (type === 'null') return null
  if (type === 'integer') return BigInt(value ?? 0)
  if (type === 'blob') return Buffer.from(base64 ?? '', 'base64')
  return value
}

function encode(value: unknown): Value {
  if (value === null || value === undefined) return { type: 'null' }
  if (typeof value === 'bigint') return { type: 'integer', value: String(value) }
  if (typeof value === 'number') return { type: 'float', value }
  if (value instanceof Uint8Array) return { type: 'blob', base64: Buffer.from(value).toString('base64') }
  return { type: 'text', value: String(value) }
}
