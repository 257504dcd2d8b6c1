import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { type Front, startFront } from './http-front.ts'

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

/** Starts a server for libSQL's HTTP protocol, `POST /v2/pipeline` and `/v3/cursor`, with an in-memory database. */
export async function startHrana(): Promise<Front> {
  const database = new DatabaseSync(':memory:')

  function execute({ sql, args = [], named_args = [] }: Statement) {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    const columns = statement.columns()
    const named = Object.fromEntries(named_args.map(({ name, value }) => [name, decode(value)]))
    const values = [...(named_args.length > 0 ? [named] : []), ...args.map(decode)]
    const rows = statement.all(...(values as never[])) as Array<Record<string, unknown>> // node:sqlite has narrow types for values
    const changes = database.prepare('SELECT changes() AS changes').get() as { changes: number }
    return {
      cols: columns.map(({ name, type }) => ({ name, decltype: type })),
      rows: rows.map((row) => columns.map(({ name }) => encode(row[name]))),
      affected_row_count: changes.changes,
      last_insert_rowid: null,
    }
  }

  const attempt = <T>(action: () => T) => {
    try {
      return { ok: action() }
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

  const front = await startFront(({ method, url }, body) => {
    if (method === 'GET') return { status: url === '/v3' || url === '/v2' ? 200 : 404, body: '' }
    const request = JSON.parse(body)
    const reply =
      url === '/v3/cursor'
        ? runCursor(request.batch.steps)
        : JSON.stringify({ baton: null, base_url: null, results: request.requests.map(runRequest) })
    return { status: 200, body: reply, headers: { 'x-request-id': randomUUID() } }
  })
  const { close } = front
  return Object.assign(front, {
    async close() {
      await close()
      database.close()
    },
  })
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
