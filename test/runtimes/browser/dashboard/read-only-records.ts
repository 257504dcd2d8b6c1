import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

/** Tests the pages that show records and settings defined in code. */
export function addReadOnlyRecordTests(test: Suite<{ browser?: Browser }>): void {
  test('records defined in code are labeled, and have no buttons that would change them', async ({ browser }) => {
    const server = await serveDashboard({
      connections: { groq: { apiKey: 'gsk_in-code-0123456789' } },
      combos: { steady: ['openai/gpt-5-mini'] },
      aliases: { small: 'openai/gpt-5-mini' },
      models: { 'openai/own': 'llm' },
      groups: { Staff: {} },
    })
    await fill(server)
    await server.gateway.api.customModels.create({ providerAlias: 'openai', id: 'stored' })
    const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`
    const seen: Record<string, string[]> = {}
    for (const [link, captions] of [
      ['#/targets', ['Connections']],
      ['#/combos', ['Combos', 'Aliases']],
      ['#/models', ['Custom models']],
      ['#/keys', ['Groups']],
    ] as const) {
      await goTo(page, link)
      for (const caption of captions) Object.assign(seen, await readButtons(page, caption))
    }
    assert.equal(seen, {
      'Groq Defined in code': ['Test', 'Reset health'],
      spare: ['Edit', 'Test', 'Drain', 'Pause', 'Reset health', 'Delete'],
      main: ['Edit', 'Test', 'Drain', 'Pause', 'Delete'],
      'steady Defined in code': [],
      fast: ['Edit', 'Delete'],
      'small Defined in code': [],
      cheap: ['Delete'],
      'openai/own Defined in code': [],
      'openai/stored': ['Delete'],
      'Staff Defined in code': ['Limits'],
      team: ['Limits', 'Edit', 'Pause', 'Delete'],
    })
    assert.is(await page.locator('.badge').first().getAttribute('title'), 'Change the gateway’s options instead.')
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('settings defined in code are disabled, and other settings can be saved', async ({ browser }) => {
    const settings = { usage: { keepRequestsDays: 5 }, limits: { usd: { day: 3 } }, cloudUrl: 'https://cloud.test' }
    const server = await serveDashboard({ settings })
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/settings')
    for (const label of ['Keep individual requests (days)', 'Keep totals (days)', 'Limit', 'Unit'])
      assert.ok(await page.getByLabel(label, { exact: true }).isDisabled(), label)
    await page.getByLabel('Max attempts per request').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.is((await server.gateway.api.settings.get()).maxAttempts, 7)
    await goTo(page, '#/cloud')
    assert.ok(await page.getByLabel('Proxy URL').isDisabled())
    assert.ok(await page.getByLabel('Enrollment token').isEnabled())
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}

/** Returns the buttons in each row of a table, by the text of the row's first cell. */
async function readButtons(page: Page, caption: string): Promise<Record<string, string[]>> {
  const rows = await page.getByRole('region', { name: caption, exact: true }).locator('tbody tr').all()
  const entries = rows.map(async (row) => {
    const buttons = await row.getByRole('button').allTextContents()
    return [(await row.locator('th').textContent())?.trim(), buttons]
  })
  return Object.fromEntries(await Promise.all(entries))
}
