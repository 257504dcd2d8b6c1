import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** In CI, where time doesn't matter, there are 100,000 keys. */
const MANY = process.env.CI ? 100_000 : 1_000
/**
 * The longest time that the page may block, in ms. It is 50 ms on an idle machine (`test/bench/dashboard.ts`), and seconds if a page handles all
 * keys. The margin allows for other tests on the same CPU.
 */
const BUSY_MS = 1_000
const READ_TOKEN = 'a-token-of-a-visitor-0123456789-abc'

/** Tests the keys page with many keys, with few permissions, and without access to the clipboard. */
export function addKeyPageTests(test: Suite<{ browser?: Browser }>): void {
  test('the gateway pages and searches keys, and the dashboard never blocks for long', {
    timeoutMs: 400_000,
  }, async ({ browser }) => {
    const server = await manyKeys()
    const { page, faults, close } = await visit(browser as Browser, server.url, { path: '/admin/' })
    await waitUntilSettled(page)
    await page.evaluate(
      "globalThis.long = []; setTimeout(() => new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' }), 1000)",
    )
    await page.waitForTimeout(1_100)
    await goTo(page, '#/keys')
    await page.getByRole('row', { name: /^key-000049 / }).waitFor()
    const getRows = () => page.locator('table').first().locator('tbody tr').count()
    assert.is(await getRows(), 50)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /^key-000050 / }).waitFor()
    assert.is(await getRows(), 50)
    await page.getByLabel('Name or ID').fill(`key-${String(MANY - 1).padStart(6, '0')}`)
    await page.getByRole('row', { name: /^key-.*team/ }).waitFor()
    assert.is(await getRows(), 1, 'the search covers all keys, starting from the first page')
    await page.getByLabel('Name or ID').fill('')
    await page.getByRole('row', { name: /^key-000000 / }).waitFor()
    await page.getByRole('link', { name: 'View keys' }).click()
    await page.getByRole('row', { name: /^key-.*team/ }).waitFor()
    const long: number[] = await page.evaluate('long')
    console.log(`  ${MANY} keys: the longest task of the page took ${Math.max(0, ...long)} ms`)
    assert.ok(Math.max(0, ...long) <= BUSY_MS, `tasks of ${long} ms`)
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('with a read-only token, only the buttons that show details are enabled', async ({ browser }) => {
    const server = await serveDashboard({
      management: { token: 'a-token-of-the-operator-0123456789', readToken: READ_TOKEN },
    })
    await fill(server)
    const { page, faults, close } = await visit(browser as Browser, server.url, { token: READ_TOKEN })
    for (const [link, ...open] of [
      ['#/keys', 'Limits: bob', 'Limits: ci', 'Limits: old', 'Limits: team', 'Sign out'],
      ['#/targets', 'Sign out'],
      ['#/combos', 'Sign out'],
      ['#/models', 'Sign out'],
      ['#/settings', 'Add limit', 'Sign out'],
    ] as const) {
      await goTo(page, link)
      const working = await page
        .locator('button:not(:disabled):not(.skip):not(.sort)')
        .evaluateAll((all) => all.map((item) => item.getAttribute('aria-label') ?? item.textContent ?? ''))
      assert.equal(working.sort(), [...open].sort(), link)
    }
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('deleting a key used today requires its name, and Copy selects the value without a clipboard', async ({
    browser,
  }) => {
    const server = await serveDashboard()
    await fill(server)
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await page.reload()
    await goTo(page, '#/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('plain')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    const shown = dialog.getByLabel(/blocked copying/)
    await shown.waitFor()
    assert.match(await page.evaluate('document.getSelection().toString()'), /^sbx_/)
    await dialog.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('button', { name: 'Delete: ci' }).click()
    const remove = dialog.getByRole('button', { name: 'Delete' })
    await remove.click()
    await dialog.getByText('This key was used today.').waitFor()
    assert.ok(await remove.isDisabled())
    await dialog.getByLabel('Name').fill('c')
    assert.ok(await remove.isDisabled())
    await dialog.getByLabel('Name').fill('ci')
    await remove.click()
    await page.getByRole('row', { name: /^ci / }).waitFor({ state: 'detached' })
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}

/** Opens a gateway with `MANY` keys, the last of which is in a group. */
async function manyKeys(): Promise<DashboardServer> {
  const server = await serveDashboard()
  const { keys, groups } = server.gateway.api
  const group = await groups.create({ name: 'team' })
  const make = (index: number) =>
    keys.create({ name: `key-${String(index).padStart(6, '0')}`, ...(index === MANY - 1 && { group: group.id }) })
  for (let index = 0; index < 100; index++) await make(index) // the keys that the test sees are created in order
  for (let index = 100; index < MANY; index += 100)
    await Promise.all(Array.from({ length: 100 }, (_, i) => make(index + i)))
  return server
}
