import { execFileSync } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toNodeHandler } from '../../adapters/mount/node.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { type ObservedWorld, openObserved, read } from '../observe/world.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { findFreePort } from './postgres-server.ts'
import { type PrometheusServer, requirePrometheus, startPrometheus } from './prometheus-server.ts'

requirePrometheus()

const test = suite<{ world: ObservedWorld; server: PrometheusServer; url: string }>('a gateway scraped by Prometheus')

const TOKEN = 'token-of-the-scrape-0123456789abcdef'
const closers: (() => unknown)[] = []

test.before(async (context) => {
  const good = metered({ input: 100, output: 50 }, { tokens: 0 })
  const world = await openObserved([prometheus({ token: TOKEN })], (call, index) =>
    call.provider === 'one' ? json({ error: { message: 'down' } }, 503) : good(call, index),
  )
  const host = createServer(toNodeHandler(world.gateway))
  const port = await findFreePort()
  await new Promise<void>((resolve) => host.listen(port, '127.0.0.1', resolve))
  closers.push(
    () => host.close(),
    () => host.closeAllConnections(),
  )
  const job = { target: `127.0.0.1:${port}`, path: '/metrics' }
  const server = await startPrometheus([
    { ...job, name: 'gateway', token: TOKEN },
    { ...job, name: 'stranger', token: 'another-token-0123456789abcdefghijkl' },
  ])
  closers.push(server.remove)
  Object.assign(context, { world, server, url: `http://${job.target}/metrics` })
})
test.after(async () => {
  for (const close of closers) await close()
})

test('the Prometheus target is up with the right token, and down with a wrong one', async ({ server }) => {
  await server.until('up{job="gateway"}', (value) => value === 1)
  await server.until('up{job="stranger"}', (value) => value === 0)
  const { gateway, stranger } = await server.problems()
  assert.is(gateway, undefined)
  assert.match(stranger ?? '', /401/)
})

test("Prometheus queries find the gateway's request series", async ({ world, server }) => {
  const { id: group } = await world.gateway.api.groups.create({ name: 'team', limits: { tokens: { day: 6_000 } } })
  const { key } = await world.gateway.api.keys.create({ name: 'ci', group })
  const headers = { authorization: `Bearer ${key}` }
  await read(world.chat({ model: 'two/m' }, headers))
  await server.until('signalbox_attempts_total{job="gateway", signalbox_outcome="answered"}', (value) => value === 1)
  await read(world.chat({ model: 'fast', stream: true }, headers))
  await server.until('signalbox_attempts_total{job="gateway", signalbox_outcome="answered"}', (value) => value === 2)
  const expected: [query: string, label: string, values: Record<string, number>][] = [
    ['sum by (http_route) (http_server_request_duration_seconds_count)', 'http_route', { '/v1/chat/completions': 2 }],
    [
      'sum by (http_response_status_code) (http_server_request_duration_seconds_count)',
      'http_response_status_code',
      { 200: 2 },
    ],
    [
      'sum by (signalbox_outcome) (signalbox_attempts_total{signalbox_outcome!="answered"})',
      'signalbox_outcome',
      { server: 1 },
    ],
    [
      'sum by (signalbox_reason) (signalbox_fallbacks_total{signalbox_recovered="true"})',
      'signalbox_reason',
      { server: 1 },
    ],
    ['sum(signalbox_usage_cost_usd_total)', '', { '': 0.0012 }],
    ['sum(gen_ai_client_inference_usage_input_tokens_total)', '', { '': 200 }],
    ['sum(gen_ai_server_time_to_first_token_seconds_count)', '', { '': 1 }],
    ['signalbox_limit_used', 'signalbox_group', { [group]: 0.05 }],
    ['signalbox_target_state{signalbox_state="ok", gen_ai_provider_name="two"}', 'gen_ai_request_model', { m: 1 }],
    ['signalbox_requests_active', 'gen_ai_operation_name', { chat: 0 }],
  ]
  for (const [query, label, values] of expected) assert.equal(await server.query(query, label), values, query)
  const p95 = 'histogram_quantile(0.95, sum by (le) (gen_ai_server_request_duration_seconds_bucket))'
  assert.ok(Object.values(await server.query(p95)).every((value) => value > 0))
})

test('every query in the Grafana dashboard succeeds', async ({ server }) => {
  const file = new URL('../../src/features/observe/grafana/signalbox.json', import.meta.url)
  const { panels }: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(await readFile(file, 'utf8'))
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(queries.length > 25)
  for (const query of queries)
    await server.query(query.replaceAll(/\$__(?:rate_interval|range)/g, '5s').replaceAll(/\$\w+/g, '.*'))
})

test('promtool accepts the metrics without warnings, and a scrape that prefers OpenMetrics gets that format', async ({
  url,
}) => {
  const scrape = (accept: string) => fetch(url, { headers: { authorization: `Bearer ${TOKEN}`, accept } })
  const text = await (await scrape('text/plain')).text()
  // It expects base units for histograms, and would warn about names that only follow OpenTelemetry's conventions.
  assert.equal(promtool(['check', 'metrics'], text), '')
  const accept = 'application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  const open = await scrape(accept)
  assert.match(open.headers.get('content-type') ?? '', /^application\/openmetrics-text; version=1\.0\.0/)
  assert.ok((await open.text()).endsWith('# EOF\n'))
})

test('promtool accepts the alert rules, and they fire exactly when they should', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-alerts-'))
  try {
    await copyFile(
      new URL('../../src/features/observe/grafana/alerts.yml', import.meta.url),
      join(folder, 'alerts.yml'),
    )
    const tests = join(folder, 'tests.yml')
    await copyFile(new URL('prometheus-alerts.yml', import.meta.url), tests)
    assert.match(promtool(['check', 'rules', join(folder, 'alerts.yml')]), /SUCCESS: 6 rules/)
    assert.match(promtool(['test', 'rules', tests]), /SUCCESS/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** Runs promtool. Returns its output, and throws if it reports a problem. */
const promtool = (args: string[], input = '') =>
  execFileSync('promtool', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })
