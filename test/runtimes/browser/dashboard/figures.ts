import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

const catalog = {
  openai: {
    baseUrl: 'http://openai.test/v1',
    serviceKinds: ['llm', 'image'],
    models: [
      { id: 'gpt', price: { input: 2, output: 10 }, contextWindow: 400_000 },
      { id: 'draw', type: 'image', price: { image: 0.04 } },
    ],
  },
} as const

/** Tests the views that show statistics, and that each sends only one request to the gateway. */
export function addFigureTests(test: Suite<{ browser?: Browser }>): void {
  test('the overview and the usage page show percentiles and trends with one call each', async ({ browser }) => {
    const { server, now } = await withTwoDays()
    const { page, faults, close } = await visit(browser as Browser, server.url, { now })
    await goTo(page, '#/settings')
    const requested = getCalls(page)

    await goTo(page, '#/')
    const cards = page.locator('.cards')
    await cards.getByText('1 the day before').waitFor()
    await cards.getByText(/time to first token/).waitFor()
    assert.equal(requested(), ['/api/overview'])

    await goTo(page, '#/usage?by=key')
    await page.locator('.cards').getByText('+200% vs. previous period').first().waitFor()
    const row = page.getByRole('row', { name: /^app/ })
    await row
      .getByTitle(/^p50: .+, p99: /)
      .first()
      .waitFor()
    assert.equal(requested(), ['/api/usage'])
    await page.getByLabel('Metric').selectOption('requests')
    await page.locator('svg title', { hasText: 'Requests over time' }).waitFor({ state: 'attached' })
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('the models page shows models of all kinds with their prices, and searches on the gateway', async ({
    browser,
  }) => {
    const server = await serveDashboard({ catalog })
    await server.gateway.api.connections.create({ provider: 'openai', prices: { gpt: { input: 3, output: 9 } } })
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/models')
    const table = page.getByRole('table', { name: 'Available models' })
    const gpt = table.getByRole('row', { name: /openai\/gpt/ })
    for (const text of ['$3.00', '$9.00', 'Connection']) await gpt.getByText(text, { exact: true }).waitFor()
    await gpt.getByText(/^400k$/i).waitFor()
    assert.is(await table.getByRole('row', { name: /draw/ }).count(), 0)
    await page.getByLabel('Kind').first().selectOption('all')
    await table.getByRole('row', { name: /openai\/draw.*image: \$0\.04.*Catalog/ }).waitFor()
    await page.getByLabel('Name').first().fill('DRAW')
    await gpt.waitFor({ state: 'detached' })
    assert.is(await table.getByRole('row', { name: /draw/ }).count(), 1)
    assert.match(page.url(), 'kinds=all&q=DRAW')
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}

/** Opens a gateway whose key "app" sent one request on the previous day, and three since. */
async function withTwoDays(): Promise<{ server: DashboardServer; now: number }> {
  const start = Date.now()
  let now = start
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const server = await serveDashboard({ catalog, clock: { now: () => now, sleep } })
  await server.gateway.api.connections.create({ provider: 'openai' })
  const { key } = await server.gateway.api.keys.create({ name: 'app' })
  const send = async () => (await server.send({ model: 'openai/gpt' }, { key })).text()
  await send()
  now += 30 * 3_600_000
  for (let index = 0; index < 3; index++) await send()
  return { server, now }
}

/** Returns a function that returns the paths below `/api`, except streams, that the page has requested since the previous call. */
function getCalls(page: Page): () => string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/') && pathname !== '/api/live') paths.push(pathname)
  })
  return () => paths.splice(0)
}
