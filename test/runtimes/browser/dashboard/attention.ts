import type { Browser } from 'playwright-core'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { damageStore } from '../../../storage/support/damaged-store.ts'
import { assert, type Suite } from '../../../support/suite.ts'
import { serveDashboard } from './site.ts'
import { visit, waitUntilSettled } from './visit.ts'

/** Tests the warnings on the overview page. */
export function addOverviewWarningTests(test: Suite<{ browser?: Browser }>): void {
  test('the overview warns about limits, unpriced models, damaged records, and cloud sync with one call', async ({
    browser,
  }) => {
    const storage = memoryStorage()
    const before = await serveDashboard({ storage })
    await before.gateway.api.combos.create({ name: 'hurt', models: ['openai/gpt-5-mini'] })
    await before.close()
    await damageStore(storage, 'combos/', () => 'damaged')
    const server = await serveDashboard({ storage })
    const { api } = server.gateway
    await api.connections.create({ provider: 'openai', name: 'real', apiKey: 'sk-0123456789abcdef' })
    const group = await api.groups.create({ name: 'team', limits: { requests: { total: 5 } } })
    const { key } = await api.keys.create({ name: 'ci', group: group.id, limits: { requests: { month: 4 } } })
    for (let index = 0; index < 4; index++) await (await server.send({ model: 'openai/of-no-price' }, { key })).text()
    const { usage, nearLimits } = await api.overview()
    assert.is(usage?.totals.unpriced, 4)
    assert.is(nearLimits?.length, 2)

    const calls: string[] = []
    const { page, faults, close } = await visit(browser as Browser, server.url, {
      before: (opened) =>
        opened.route('**/api/**', async (route) => {
          const { pathname } = new URL(route.request().url())
          if (pathname !== '/api/live') calls.push(pathname)
          if (pathname !== '/api/overview') return route.continue()
          const response = await route.fetch()
          const full: object = await response.json()
          return route.fulfill({ response, json: { ...full, mirrorError: 'it <b>cannot</b> be reached' } })
        }),
    }) // launched by `before`
    await waitUntilSettled(page)
    const items = page.getByRole('region', { name: 'Needs attention' }).getByRole('link')
    await items.first().waitFor()
    const found = await items.evaluateAll((all) => all.map((item) => [item.textContent, item.getAttribute('href')]))
    for (const [text, link] of [
      ['"ci" has used 4 of 4 requests per month.', /#\/keys\?q=/],
      ['"team" has used 4 of 5 requests in total.', /#\/keys\?group=/],
      ['4 calls in the last 24 hours went to models with an unknown price.', /#\/models/],
      ['1 damaged record in storage.', /#\/settings/],
      ['Cloud sync is failing: it <b>cannot</b> be reached', /#\/cloud/],
    ] as const) {
      const [, href = ''] = found.find(([output]) => output === text) ?? []
      assert.match(href ?? '', link, `${text} in ${JSON.stringify(found)}`)
    }
    assert.equal(
      calls.filter((path) => path !== '/api/info'),
      ['/api/overview'],
    )
    await page.getByRole('link', { name: /"ci" has used/ }).click()
    await page.getByRole('row', { name: /^ci / }).waitFor()
    assert.is(await page.locator('table').first().locator('tbody tr').count(), 1)
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}
