import { jsonLog } from '../../src/features/observe/log.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openObserved, read } from './world.ts'

const test = suite('the request log')

async function readLog(respond = metered({}, { tokens: 0 })) {
  const lines: string[] = []
  const world = await openObserved([jsonLog((line) => void lines.push(line))], respond)
  return { ...world, lines, last: () => JSON.parse(lines.at(-1) ?? '') }
}

test('a request is logged on one line with all attempts, tokens, and the cost', async () => {
  const good = metered({ input: 100, output: 50 }, { tokens: 0 })
  const { gateway, lines, last, chat } = await readLog((call, index) =>
    call.provider === 'one' ? json({ error: { message: 'overloaded' } }, 503) : good(call, index),
  )
  const { key, id } = await gateway.api.keys.create({ name: 'ci' })
  await read(chat({ model: 'fast', stream: true }, { authorization: `Bearer ${key}` }))
  assert.is(lines.length, 1)
  assert.ok(lines[0]?.endsWith('\n'))
  const { ts, id: requestId, ms, first_ms, attempts, ...line } = last()
  assert.equal(line, {
    level: 'info',
    msg: 'request',
    route: '/v1/chat/completions',
    op: 'chat',
    format: 'openai-chat',
    key: id,
    asked: 'fast',
    target: 'two/m',
    status: 200,
    end: 'complete',
    stream: true,
    in: 100,
    out: 50,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    cost_usd: 0.0006,
  })
  assert.match(requestId, /^[\da-f-]{36}$/)
  assert.equal([typeof ts, typeof ms, typeof first_ms], ['string', 'number', 'number'])
  assert.equal(
    attempts.map(({ t, status, why }: Record<string, unknown>) => [t, status, why]),
    [
      ['one/m', 503, 'server'],
      ['two/m', 200, undefined],
    ],
  )
})

test("a log line contains the account's ref, but not its ID", async () => {
  const { gateway, lines, last } = await readLog()
  const { ref } = await gateway.api.accounts.put({ id: 'alice@example.com' })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ model: 'one/m', messages: [] })
  await read(
    gateway.as({ account: 'alice@example.com' }).fetch('http://gateway/v1/chat/completions', { ...init, body }),
  )
  assert.is(last().account, ref)
  assert.not.match(lines.join(), /alice/)
})

test('rejected requests are logged as warnings', async () => {
  const { gateway, last, chat } = await readLog()
  await gateway.api.settings.update({ requireApiKey: true })
  await read(chat())
  const { level, status, end, error } = last()
  assert.equal({ level, status, end, error }, { level: 'warn', status: 401, end: 'refused', error: 'KEY_MISSING' })
})

test('log lines contain no prompt, response, or credential', async () => {
  const { lines, chat } = await readLog(metered({ words: ['the secret answer'] }, { tokens: 0 }))
  await read(chat({}, { authorization: 'Bearer sbx_not-a-key-of-this-gateway-0123456789' }))
  await read(chat())
  assert.not.match(lines.join(''), /secret|sbx_|of-one/)
})

const hostileNames = [
  `one/${'模'.repeat(900)}`,
  'one/a\nb\u0085c\u2029d',
  `one/${'\u202e'.repeat(900)}`,
  `one/${'\0\x1b[31m'.repeat(150)}`,
  `one/${'\ud800'.repeat(900)}`,
  `one/${'\u{e0041}'.repeat(450)}`,
  `one/${'"\\'.repeat(450)}`,
  '<img src=x onerror=alert(1)>',
  'fast',
]

test('a log line stays within 4 KiB for any input from clients and providers', async () => {
  const { lines, chat } = await readLog(() =>
    json({ error: { message: `\u2028\u202e\x1b[31m${'ß'.repeat(20_000)}` } }, 400),
  )
  for (const model of hostileNames) await read(chat({ model, [model]: 1 }, { 'user-agent': 'x'.repeat(9_000) }))
  assert.is(lines.length, hostileNames.length)
  for (const line of lines) assertSafeLine(line)
})

test('a log line with too many attempts and warnings stays within 4 KiB, and counts what it omits', () => {
  for (const name of hostileNames) {
    const lines: string[] = []
    const follower = jsonLog((line) => void lines.push(line)).request?.({
      ...{ id: 'r', method: 'POST', route: '/v1/chat/completions', path: `/${name}`, startedAt: 1 },
      ...{ format: 'openai-chat', operation: 'generate', kind: 'llm', header: () => name },
    })
    const model = name.repeat(3)
    const attempt = {
      provider: name,
      connectionId: 'c',
      model,
      startedAt: 1,
      durationMs: 1,
      status: 500,
      message: name,
    }
    const attempts = Array.from({ length: 50 }, () => ({ ...attempt, outcome: 'server' as const, via: name }))
    const record = {
      id: 'r',
      end: 'failed' as const,
      path: name,
      startedAt: 1,
      durationMs: 1,
      status: 500,
      servedBy: 'provider' as const,
      model,
    }
    const answered = { ...attempt, outcome: 'answered' as const }
    follower?.ended?.({
      ...record,
      ...{ keyId: 'k', groupId: 'g', streamed: false, attempts: [...attempts, answered] },
      ...{ warnings: Array.from({ length: 500 }, () => `dropped:${name}`) },
    })
    assert.is(lines.length, 1)
    assertSafeLine(lines[0] ?? '')
    assert.is(JSON.parse(lines[0] ?? '').left_out > 400, true)
  }
})

test('log lines contain no provider error message, because it may quote the prompt', async () => {
  const { lines, chat } = await readLog(({ body }) => json({ error: { message: `Cannot read ${body}` } }, 400))
  await read(chat())
  await read(chat({ stream: true }))
  assert.is(lines.length, 2)
  assert.not.match(lines.join(''), /secret|Cannot/)
})

function assertSafeLine(line: string): void {
  assert.ok(Buffer.byteLength(line) <= 4_097, `${Buffer.byteLength(line)} bytes`)
  assert.not.match(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  assert.is(JSON.parse(line).msg, 'request')
}
