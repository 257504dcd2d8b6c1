import type { Browser, Page } from 'playwright-core'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { fakeClock } from '../../../support/clock.ts'
import { assert, type Suite } from '../../../support/suite.ts'
import { getRequest, openInstance } from '../../../usage/support/instances.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, until, visit } from './visit.ts'

const NOW = Date.parse('2026-11-20T18:20:00Z')
const HOUR = 3_600_000

/** Tests the time ranges on the pages, and each key's usage over time. */
export function addTimeRangeTests(test: Suite<{ browser?: Browser }>): void {
  test('usage and requests are shown for yesterday, this month, and custom dates', async ({ browser }) => {
    const { server, key } = await withHistory()
    const { page, faults, close } = await visit(browser as Browser, server.url, { now: NOW })
    for (const [query, count] of [
      ['days=1', 24],
      ['days=yesterday', 24],
      ['days=today', 19],
      ['days=month', 20 * 24 - 5],
      ['days=last-month', 5],
      ['days=custom&from=2026-11-17&to=2026-11-18', 48],
      ['days=custom&from=2026-11-17', 4 * 24 - 5],
    ] as const) {
      await goTo(page, `#/usage?by=key&${query}`)
      await page.locator('.cards .figure').getByText(String(count), { exact: true }).waitFor()
    }

    await goTo(page, '#/usage')
    await page.getByLabel('Time range').selectOption('yesterday')
    await page.locator('.cards .figure').getByText('24', { exact: true }).waitFor()
    await page.getByRole('row', { name: /^app/ }).getByRole('link').click()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    assert.match(page.url(), 'days=yesterday')
    assert.match(page.url(), `keyId=${key}`)
    await until(async () => (await rowCount(page)) === 24)
    assert.is(await rowCount(page), 24, 'the link keeps the time range')
    const times = await page.locator('tbody th').allTextContents()
    assert.ok(
      times.every((time) => time.startsWith('19 Nov')),
      `rows from another day show the date: ${times[0]}`,
    )

    await page.getByLabel('Time range').selectOption('custom')
    await page.getByLabel('To (UTC, inclusive)').fill('2026-11-20')
    await page.getByLabel('From (UTC)').fill('2026-11-20')
    await until(async () => (await rowCount(page)) === 19)
    assert.is(await rowCount(page), 19)
    assert.not.match((await page.locator('tbody th').first().textContent()) ?? '', /Nov/)
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('sorting by duration or cost covers all requests, not only the loaded ones', async ({ browser }) => {
    const { server } = await withHistory()
    const { page, faults, close } = await visit(browser as Browser, server.url, { now: NOW })
    await goTo(page, '#/requests')
    await until(async () => (await rowCount(page)) === 100)
    const first = (column: string) => page.locator('tbody tr').first().locator(`[data-name="${column}"]`).textContent()
    for (const [column, mostly, least] of [
      ['Duration', '9 s', '1 ms'],
      ['Cost', '$0.50', '$0.00'],
    ] as const) {
      const button = page.getByRole('button', { name: new RegExp(`^${column}`) })
      await button.click()
      await until(async () => (await first(column)) === mostly)
      assert.is(await first(column), mostly)
      assert.is(await page.locator('th[aria-sort="descending"]').textContent(), `${column} ↓`)
      await button.click()
      await until(async () => (await first(column)) === least)
      assert.is(await first(column), least)
    }
    await page.getByRole('button', { name: 'Load older requests' }).click()
    await until(async () => (await rowCount(page)) === 200)
    const ids = await page.locator('tbody th a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    assert.is(new Set(ids).size, 200)
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('keys show their monthly spending, limit usage, and last use', async ({ browser }) => {
    const { server, key } = await withHistory()
    const { gateway } = server
    await gateway.api.keys.create({ name: 'idle', limits: { requests: { day: 10 } } })
    const { page, faults, close } = await visit(browser as Browser, server.url, { now: NOW })
    await goTo(page, '#/keys')
    const { costUsd } = (await gateway.api.usage.summary({ from: '2026-11-01', keyId: key })).totals
    const row = page.getByRole('row', { name: /^app/ })
    assert.is(await row.locator('[data-name="Spend this month"]').textContent(), `$${costUsd.toFixed(2)}`)
    await row.getByText(/^20 min/).waitFor()
    const idle = page.getByRole('row', { name: /^idle/ })
    await idle.getByText('0 of 10 requests per day').waitFor()
    assert.is(await idle.locator('meter').count(), 1)
    assert.is(await idle.locator('[data-name="Spend this month"]').textContent(), '$0.00')
    await idle.getByText('Not in 30 days').waitFor()

    await row.getByRole('link', { name: 'app' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await page
      .locator('.cards .figure')
      .getByText(String(20 * 24 - 5), { exact: true })
      .waitFor()
    await page.getByRole('link', { name: 'View matching requests' }).first().click()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    assert.match(page.url(), `keyId=${key}`)
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('groups show how much of each limit is used, even if no keys are listed', async ({ browser }) => {
    const { server } = await withHistory()
    const { keys, groups } = server.gateway.api
    const team = await groups.create({ name: 'team', limits: { requests: { day: 10 } } })
    await groups.create({ name: 'empty', limits: { usd: { month: 5 } } })
    await groups.create({ name: 'free' })
    for (const name of ['one', 'two']) await keys.create({ name, group: team.id })
    const { page, faults, close } = await visit(browser as Browser, server.url, { now: NOW })
    await goTo(page, '#/keys')
    const table = page.getByRole('table', { name: 'Groups' })
    const row = (name: string) => table.getByRole('row', { name: new RegExp(`^${name}`) })
    await row('team').getByText('0 of 10 requests per day').waitFor()
    await row('empty').getByText('$0.00 of $5.00 per month').waitFor()
    await row('free').getByText('No limits').waitFor()
    assert.is(await table.getByRole('meter').count(), 2)
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('the request list shows how many requests have no record', async ({ browser }) => {
    const { server } = await withHistory()
    const { page, faults, close } = await visit(browser as Browser, server.url, {
      now: NOW,
      before: (opened) =>
        opened.route('**/api/usage/requests*', async (route) => {
          const response = await route.fetch()
          const full: object = await response.json()
          return route.fulfill({ response, json: { ...full, missing: 1_234 } })
        }),
    })
    await goTo(page, '#/requests')
    await page.getByText('1,234 more requests in this time range have no record.').waitFor()
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('counts since the process started show the start time', async ({ browser }) => {
    const { server } = await withHistory()
    const { page, close } = await visit(browser as Browser, server.url, { now: NOW })
    await goTo(page, '#/targets')
    await page.getByText('which started on 20 Nov 2026').waitFor()
    await close()
    await server.close()
  })
}

const rowCount = (page: Page) => page.locator('tbody tr').count()

/** Opens a gateway with one request per hour since the evening of October 31. The first requests of each day are slower and more expensive. */
async function withHistory(): Promise<{ server: DashboardServer; key: string }> {
  const clock = { now: () => NOW, sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) }
  const storage = memoryStorage()
  const server = await serveDashboard({ storage, clock })
  const { id } = await server.gateway.api.keys.create({ name: 'app' })
  const usage = openInstance(storage, fakeClock(NOW))
  let index = 0
  for (let timestamp = Date.parse('2026-10-31T19:00:00Z'); timestamp <= NOW; timestamp += HOUR) {
    const isDear = timestamp < Date.parse('2026-11-02') && index % 3 === 0
    const isFree = timestamp < Date.parse('2026-11-03') && index % 3 === 1
    usage.storeRequest(
      getRequest(timestamp, {
        keyId: id,
        input: isDear ? 5e8 : isFree ? 0 : 1e7,
        durationMs: isDear ? 9_000 : isFree ? 1 : 200,
      }),
    )
    index++
  }
  await usage.close()
  return { server, key: id }
}
