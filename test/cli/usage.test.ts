import { serveNode } from '../../adapters/mount/node.ts'
import { openManagement } from '../management/open-management.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

type Server = Awaited<ReturnType<typeof serveNode>>

const usage = { prompt_tokens: 1_000, completion_tokens: 100 }
const catalog = {
  openai: { baseUrl: 'http://openai.test/v1', models: [{ id: 'gpt', price: { input: 2, output: 10 } }] },
}

const openGateway = () => openManagement({ catalog, fetch: async () => Response.json({ ...chatResponse(), usage }) })

const test = suite('signalbox usage', {
  serving: undefined as Server | undefined,
  url: '',
  management: openGateway(),
})

test.before.each(async (context) => {
  context.management = openGateway()
  context.serving = await serveNode(context.management.gateway, { port: 0 })
  context.url = context.serving.url
  await context.management.gateway.api.connections.put({ id: 'main', provider: 'openai' })
})

test.after.each(({ serving }) => serving?.close())

async function send({ gateway }: ReturnType<typeof openGateway>, key: string, model = 'openai/gpt') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model, messages: [] })
  const reply = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }),
  )
  await reply.text()
  return reply.headers.get('x-signalbox-request-id') ?? ''
}

test('filters usage by group name, and shows the name', async ({ url, management }) => {
  const { id } = await management.gateway.api.groups.create({ name: 'Customers' })
  const { key } = await management.gateway.api.keys.create({ name: 'team-a', group: id })
  await send(management, key)
  await send(management, (await management.gateway.api.keys.create({ name: 'alone' })).key)
  const { out } = await runHere(url, 'usage --by group --group Customers --from 2026-01-01')
  assert.equal(
    out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2)),
    [
      ['GROUP', 'REQUESTS'],
      ['Customers', '1'],
      ['Total: 1 requests, 1000 input tokens, 100 output tokens, $0.003000'],
      [''],
    ],
  )
  const none = await runHere(url, 'usage --group Nobody')
  assert.equal([none.code, none.err], [1, 'There is no group "Nobody".\n'])
})

test('prints usage as a table with key names, CSV, or JSON', async ({ url, management }) => {
  const { key } = await management.gateway.api.keys.create({ name: 'team-a' })
  await send(management, key)
  await send(management, key)
  await send(management, key, 'nobody/x')
  const { code, out, err } = await runHere(url, 'usage --by key,model --from 2026-01-01')
  assert.equal([code, err], [0, ''])
  assert.equal(
    out
      .replace(/ +\d+ ms +\d+ ms$/m, '  ms  ms')
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
    [
      ['KEY', 'MODEL', 'REQUESTS', 'FAILED', 'REJECTED', 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'TTFT P95', 'P95'],
      ['team-a', 'openai/gpt', '2', '0', '0', '2000', '0', '200', '$0.006000', 'ms', 'ms'],
      ['team-a', 'nobody/x', '1', '1', '1', '0', '0', '0', '$0.00', '-', '-'],
      ['Total: 3 requests, 2000 input tokens, 200 output tokens, $0.006000'],
      [''],
    ],
  )
  const csv = await runHere(url, 'usage --by model --from 2026-01-01 --csv')
  assert.match(csv.out.split('\r\n')[1] ?? '', /^openai\/gpt,2,0,0,0,2000,200,0,0,0,,0\.006(?:,\d+){6},{6}$/)
  const json = await runHere(url, 'usage summary --key team-a --from 2026-01-01 --json')
  assert.equal(JSON.parse(json.out).totals.requests, 3)
  assert.is((await runHere(url, 'usage --key team-b')).err, 'There is no key "team-b". Did you mean "team-a"?\n')
  assert.is((await runHere(url, 'usage --from yesterday --to today')).out, 'No usage in this period.\n')
})

test('usage CSV includes key and group names next to their IDs', async ({ url, management }) => {
  const group = await management.gateway.api.groups.create({ name: 'Customers, all' })
  const { key, id } = await management.gateway.api.keys.create({ name: 'team-a', group: group.id })
  await send(management, key)
  const { out } = await runHere(url, 'usage --by key,group --since 52w --csv')
  const [head = '', row = ''] = out.split('\r\n')
  assert.match(head, /^keyId,keyName,groupId,groupName,requests,/)
  assert.ok(row.startsWith(`${id},team-a,${group.id},"Customers, all",1,`), row)
  const requests = await runHere(url, 'usage requests --csv')
  assert.match(requests.out.split('\r\n')[0] ?? '', /^id,time,keyId,keyName,groupId,groupName,user,/)
  assert.match(requests.out, `${id},team-a,${group.id},"Customers, all"`)
})

test('accepts ages, such as 24h, in --since and --until', async ({ url, management }) => {
  const now = Date.now()
  management.clock.advance(now - management.clock.now())
  const range = async (options: string) => {
    const { out, err } = await runHere(url, `usage summary ${options} --json`)
    assert.is(err, '', options)
    const { from, to } = JSON.parse(out) as { from: string; to: string }
    return [Date.parse(from), Date.parse(to)] as const
  }
  const hour = 60 * 60_000
  for (const [options, agoMs] of [
    ['--from 7d', 7 * 24 * hour],
    ['--since 24h', 24 * hour],
    ['--since 2w', 14 * 24 * hour],
    ['--from=90m', 1.5 * hour],
  ] as const) {
    const [from] = await range(options)
    assert.ok(from <= now - agoMs + hour && from >= now - agoMs - hour, `${options}: ${new Date(from).toISOString()}`)
  }
  const [from, to] = await range('--since 3d --until 2d')
  assert.ok(Math.abs(to - from - 24 * hour) <= hour)
  assert.equal(await range('--since yesterday --until today'), await range('--from yesterday --to today'))
})

test('shows the top usage rows, one row for all others, and the preceding period', async ({ url, management }) => {
  for (const name of ['a', 'b', 'c']) await send(management, (await management.gateway.api.keys.create({ name })).key)
  const { out } = await runHere(url, 'usage --top 1 --order requests --compare before')
  const lines = out.split('\n')
  assert.match(lines[0] ?? '', /^KEY +OTHERS +REQUESTS /)
  assert.match(lines[2] ?? '', /^- +2 more +2 /)
  assert.match(out, /\nPreceding period: 0 requests, 0 input tokens, 0 output tokens, \$0\.00\n$/)
})

test("lists rejected requests with the reason, and shows a request's details", async ({ url, management }) => {
  const { key, id } = await management.gateway.api.keys.create({ name: 'team-a' })
  const answered = await send(management, key)
  await management.gateway.api.keys.update(id, { isActive: false })
  const rejected = await send(management, key)
  const { out } = await runHere(url, 'usage requests --end refused --key team-a')
  assert.match(
    out,
    /^TIME +KEY +STATUS +END +ERROR +REASON +ID\n\S+ +team-a +403 +refused +KEY_PAUSED +This API key is paused\./,
  )
  assert.ok(out.includes(rejected) && !out.includes(answered))
  assert.match((await runHere(url, `usage request ${answered}`)).out, /request\.?\b|endpoint +\/v1\/chat\/completions/)
  assert.match((await runHere(url, 'usage requests --limit 1')).out, /More: --before /)
  assert.match((await runHere(url, 'usage requests --limit 0')).err, /--limit must be a whole number from 1 to 1000/)
})
