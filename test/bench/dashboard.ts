import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromiumPath, launchChromium } from '../runtimes/browser/chromium.ts'
import { type DashboardServer, respond, serveDashboard, TOKEN } from '../runtimes/browser/dashboard/site.ts'
import { goTo, visit, waitUntilSettled } from '../runtimes/browser/dashboard/visit.ts'

/*
 * Measures the cost of watching a busy gateway: each dashboard page's long tasks at 10,000 requests per minute, and the CPU time that one `GET
 * /api/live` listener adds to a request. node test/bench/dashboard.ts --seconds 10 --a-minute 10000 --turns 60 --keys 100000
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    'a-minute': { type: 'string', default: '10000' },
    turns: { type: 'string', default: '60' },
    keys: { type: 'string', default: '1000' },
  },
})
const seconds = Number(values.seconds)
const perSecond = Number(values['a-minute']) / 60
const turns = Number(values.turns)
const REQUESTS = 200

const server = await serveDashboard({ fetch: respond })
await server.gateway.api.connections.create({ provider: 'openai', apiKey: 'key-of-the-bench' })
await server.gateway.api.connections.create({ provider: 'groq', apiKey: 'key-of-the-bench' })
await server.gateway.api.combos.create({ name: 'fast', models: ['groq/llama-3.3-70b-versatile', 'openai/gpt-5-mini'] })
for (let created = 0; created < Number(values.keys); created += 100)
  await Promise.all(
    Array.from({ length: 100 }, (_, index) => server.gateway.api.keys.create({ name: `key-${created + index}` })),
  )
await listenerCost(server)
await pagesUnderLoad(server)
await server.close()
process.exit()

async function send({ gateway }: DashboardServer): Promise<void> {
  const response = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-5-mini', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    }),
  )
  await response.text()
}

/** Alternates batches of requests with and without a listener. Prints the median CPU time of each. */
async function listenerCost(app: DashboardServer): Promise<void> {
  const spent: Record<'alone' | 'listened', number[]> = { alone: [], listened: [] }
  for (let turn = 0; turn < turns; turn++)
    for (const mode of ['alone', 'listened'] as const) {
      const controller = new AbortController()
      const headers = { authorization: `Bearer ${TOKEN}` }
      const live =
        mode === 'listened' &&
        (await app.gateway.fetch('http://gateway/api/live', { headers, signal: controller.signal }))
      const reading = live && drain(live)
      const before = process.cpuUsage()
      for (let done = 0; done < REQUESTS; done++) await send(app)
      const { user, system } = process.cpuUsage(before)
      spent[mode].push((user + system) / REQUESTS)
      controller.abort()
      await reading
    }
  const [alone, listened] = [getMedian(spent.alone), getMedian(spent.listened)]
  const ofCpu = ((listened - alone) * perSecond) / 10_000
  console.log(
    `a request takes ${alone.toFixed(1)} µs of CPU time, with a listener ${listened.toFixed(1)} µs: at ${values['a-minute']} requests a minute the listener takes ${ofCpu.toFixed(2)} % of a CPU`,
  )
}

async function drain({ body }: Response): Promise<void> {
  try {
    for await (const _ of body ?? []);
  } catch {} // aborted above
}

function getMedian(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

/** Records each page's long tasks, except in its first second. */
async function pagesUnderLoad(app: DashboardServer): Promise<void> {
  if (!chromiumPath) return console.log('there is no Chromium: the pages were not measured')
  const browser = await launchChromium(chromiumPath)
  const { page, close } = await visit(browser, app.url)
  await waitUntilSettled(page)
  const loading = new AbortController()
  const load = keepRequesting(app, loading.signal)
  for (const link of ['#/', '#/requests', '#/usage', '#/keys', '#/targets', '#/combos', '#/models', '#/settings']) {
    await goTo(page, link)
    await page.waitForTimeout(1_000)
    const tasks: number[] = await page.evaluate(
      `new Promise((resolve) => { const tasks = []; const seen = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))); seen.observe({ type: 'longtask' }); setTimeout(() => { seen.disconnect(); resolve(tasks) }, ${seconds * 1_000}) })`,
    )
    console.log(
      `${link}: ${tasks.length} tasks above 50 ms in ${seconds} s${tasks.length ? `, the longest ${Math.max(...tasks)} ms` : ''}`,
    )
  }
  loading.abort()
  console.log(
    `${((await load) / (seconds + 1) / 8).toFixed(0)} requests a second were answered, of ${perSecond.toFixed(0)}`,
  )
  await close()
  await browser.close()
}

/** Sends requests at the target rate until aborted. Resolves to the number of requests. */
async function keepRequesting(app: DashboardServer, until: AbortSignal): Promise<number> {
  const from = performance.now()
  let requestCount = 0
  while (!until.aborted) {
    const due = ((performance.now() - from) / 1_000) * perSecond
    for (; requestCount < due; requestCount++) void send(app)
    await sleep(10)
  }
  return requestCount
}
