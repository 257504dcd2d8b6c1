import type { Browser, Locator, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { type DashboardServer, serveDashboard } from './site.ts'
import { goTo, until, visit } from './visit.ts'

/** Tests each record's form fields, and where their errors appear. */
export function addEditingTests(test: Suite<{ browser?: Browser }>): void {
  test("a key's kinds and metadata can be edited, and saving the key unchanged keeps both", async ({ browser }) => {
    await withDialog(browser, ['#/keys', 'Edit: bob'], async ({ api, dialog, reopen }) => {
      await dialog.getByLabel('Chat', { exact: true }).check()
      await dialog.getByLabel('Images', { exact: true }).check()
      await dialog.getByRole('button', { name: 'Add metadata' }).click()
      await dialog.getByLabel('Key', { exact: true }).fill('team')
      await dialog.getByLabel('Value', { exact: true }).fill('a: b, "c"')
      await save(dialog)
      const bob = async () => (await api.keys.list({ q: 'bob' })).keys[0]
      for (const _ of ['first', 'again']) {
        assert.equal((await bob())?.kinds, ['llm', 'image'])
        assert.equal((await bob())?.metadata, { team: 'a: b, "c"' })
        assert.equal((await bob())?.models, ['fast'])
        await reopen()
        await save(dialog)
      }
      await reopen()
      await dialog.getByLabel('Images', { exact: true }).uncheck()
      await dialog.getByLabel('Chat', { exact: true }).uncheck()
      await dialog.getByRole('button', { name: 'Remove metadata' }).click()
      await save(dialog)
      assert.is((await bob())?.kinds, undefined)
      assert.equal((await bob())?.metadata ?? {}, {})
    })
  })

  test("editing a combo's parameters, conditions, and timeouts keeps settings without a form field", async ({
    browser,
  }) => {
    await withDialog(browser, ['#/combos', 'Edit: fast'], async ({ api, dialog, reopen }) => {
      const [combo] = (await api.combos.list()).combos
      const full = {
        models: [
          { model: 'groq/llama-3.3-70b-versatile', when: { tools: true }, weight: 2, voices: { alloy: 'x' } },
          'openai/gpt-5-mini',
        ],
        health: { minCalls: 7 },
      }
      await api.combos.update(combo?.id ?? '', full)
      await dialog.press('Escape')
      await reopen()
      await dialog.getByText('Parameters', { exact: true }).last().click()
      const last = (label: string) => dialog.getByLabel(label, { exact: true }).last()
      await last('Max tokens').fill('200')
      await last('Temperature').fill('0.5')
      await last('Stop sequences').fill('["END", "\\n"]')
      await last('Reasoning effort').selectOption('low')
      await dialog.getByText('Condition builder', { exact: true }).last().click()
      await last('Min body size (bytes)').fill('10')
      await last('Max body size (bytes)').fill('8000')
      await last('Min body size (bytes)').fill('')
      await last('Has images').selectOption('No')
      assert.is(await last('Condition (JSON)').inputValue(), '{"bytes":{"max":8000},"images":false}')
      await dialog.getByLabel('First token').fill('9000')
      await dialog.getByLabel('Between chunks').fill('5000')
      await dialog.getByLabel(/content filter/).check()
      await save(dialog)
      const readStored = async () => (await api.combos.list()).combos[0]
      const params = { maxTokens: 200, temperature: 0.5, stopSequences: ['END', '\n'], reasoning: 'low' }
      for (const _ of ['first', 'again']) {
        const found = await readStored()
        assert.equal(found?.models, [
          full.models[0],
          { model: 'openai/gpt-5-mini', when: { bytes: { max: 8000 }, images: false }, params },
        ])
        assert.equal(
          [found?.timeouts, found?.on, found?.health],
          [{ headersMs: 9000, idleMs: 5000 }, ['content'], full.health],
        )
        await reopen()
        await save(dialog)
      }
      await reopen()
      for (const label of ['Max tokens', 'Temperature', 'Stop sequences', 'Condition (JSON)'])
        await last(label).fill('')
      await last('Reasoning effort').selectOption('')
      await dialog.getByLabel('First token').fill('')
      await dialog.getByLabel('Between chunks').fill('')
      await dialog.getByLabel(/content filter/).uncheck()
      await save(dialog)
      const left = await readStored()
      assert.equal([left?.models[1], left?.timeouts, left?.on], ['openai/gpt-5-mini', undefined, undefined])
    })
  })

  test("a connection's prices can be edited, and saving keeps prices without a form field", async ({ browser }) => {
    await withDialog(browser, ['#/targets', 'Edit: main'], async ({ api, dialog, reopen }) => {
      await dialog.getByText('Prices', { exact: true }).click()
      await dialog.getByRole('button', { name: 'Add model prices' }).click()
      await dialog.getByLabel('Model ID').fill('gpt-5-mini')
      await dialog.getByLabel('Input', { exact: true }).first().fill('0.25')
      await dialog.getByLabel('Output', { exact: true }).first().fill('2')
      await dialog.getByLabel('Other prices (JSON)').fill('{"image": 0.04}')
      const long = dialog.getByRole('group', { name: 'Prices for long inputs' })
      await long.getByRole('button', { name: 'Add tier' }).click()
      await long.getByLabel('Over (input tokens)').fill('200000')
      await long.getByLabel('Input', { exact: true }).fill('0.5')
      await save(dialog)
      const getPrices = async () =>
        (await api.connections.list()).connections.find(({ name }) => name === 'main')?.prices
      const full = { input: 0.25, output: 2, tiers: [{ above: 200_000, input: 0.5 }], image: 0.04 }
      for (const _ of ['first', 'again']) {
        assert.equal(await getPrices(), { 'gpt-5-mini': full })
        await reopen()
        await save(dialog)
      }
      const main = (await api.connections.list()).connections.find(({ name }) => name === 'main')
      const tiers = [{ above: 200_000, input: 0.5, audioInput: 3 }]
      await api.connections.update(main?.id ?? '', { prices: { 'gpt-5-mini': { ...full, tiers } } })
      await reopen()
      await long.getByLabel('Output', { exact: true }).fill('4')
      await long.getByLabel('Over (input tokens)').fill('0.5')
      await dialog.getByRole('button', { name: 'Save' }).click()
      assert.is(await dialog.count(), 1, 'the browser rejects a fraction')
      await long.getByLabel('Over (input tokens)').fill('128000')
      await save(dialog)
      assert.equal((await getPrices())?.['gpt-5-mini']?.tiers, [
        { above: 128_000, input: 0.5, output: 4, audioInput: 3 },
      ])
      await reopen()
      await long.getByRole('button', { name: 'Remove tier' }).click()
      await save(dialog)
      assert.equal(await getPrices(), { 'gpt-5-mini': { input: 0.25, output: 2, image: 0.04 } })
      await reopen()
      await dialog.getByRole('button', { name: 'Remove prices' }).click()
      await save(dialog)
      assert.equal((await getPrices()) ?? {}, {})
    })
  })

  test('the settings control whether the API lists key values', async ({ browser }) => {
    const server = await serveDashboard()
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/settings')
    const box = page.getByLabel('Include key values when the API lists keys')
    assert.ok(await box.isChecked())
    await box.uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    assert.is((await server.gateway.api.settings.get()).showKeyValues, false)
    await goTo(page, '#/')
    await goTo(page, '#/settings')
    assert.not.ok(await box.isChecked())
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('a gateway error is shown next to its form field, which gets the focus', async ({ browser }) => {
    await withDialog(browser, ['#/keys', 'Edit: bob'], async ({ page, dialog }) => {
      await dialog.getByLabel('Name').fill('x'.repeat(201))
      await saidAt(page, dialog, 'Name', '"name" must not be longer than 200 characters')
      await dialog.getByLabel('Name').fill('bob')
      await dialog.getByRole('button', { name: 'Add limit' }).click()
      await dialog.getByLabel('Limit', { exact: true }).fill('99999999')
      await saidAt(page, dialog, 'Limit', /^"limits\.usd\.month" must/)
      await dialog.press('Escape')

      await goTo(page, '#/targets')
      await page.getByRole('button', { name: 'Edit: spare' }).click()
      await dialog.getByText('Base URL, format, and models').click()
      await dialog.getByLabel('Base URL', { exact: true }).fill('ftp://nowhere')
      await dialog.getByText('Base URL, format, and models').click() // collapses the section, which the error expands again
      await saidAt(page, dialog, 'Base URL', /^"providerSpecificData\.baseUrl" must/)
      await dialog.press('Escape')

      await goTo(page, '#/combos')
      await page.getByRole('button', { name: 'Edit: fast' }).click()
      await dialog.getByLabel('Condition (JSON)', { exact: true }).last().fill('{"tool": true}')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.locator('.error, .problem').first().waitFor()
      assert.is(
        await dialog.getByLabel('Condition (JSON)', { exact: true }).last().getAttribute('aria-invalid'),
        'true',
      )
      assert.is(await dialog.locator('.problem').count(), 0, 'the error is shown nowhere else')
      await dialog.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByLabel('Path').fill('/v1/nothing')
      await page.getByLabel('Model', { exact: true }).fill('fast')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.field .error').waitFor()
      assert.is(await page.getByLabel('Path').getAttribute('aria-invalid'), 'true')
    })
  })

  test('routing can be explained for a key, by its name or ID', async ({ browser }) => {
    await withDialog(browser, ['#/keys', 'Edit: bob'], async ({ page, api, dialog }) => {
      await dialog.press('Escape')
      await goTo(page, '#/combos')
      await page.getByLabel('Model', { exact: true }).fill('openai/gpt-5-mini')
      const { id } = (await api.keys.list({ q: 'bob' })).keys[0] ?? { id: '' }
      for (const name of ['bob', id]) {
        await page.getByLabel('API key').fill(name)
        await page.getByRole('button', { name: 'Preview' }).click()
        await page.getByText(/The client would get a 403/).waitFor()
      }
      await page.locator('datalist option', { hasText: 'bob' }).first().waitFor({ state: 'attached' })
      await page.getByLabel('API key').fill('')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page
        .getByRole('cell', { name: /openai\/gpt-5-mini/ })
        .first()
        .waitFor()
      await page.getByLabel('API key').fill('nobody')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.problem, .field .error').first().waitFor()
    })
  })

  test("sign-in rejects a token that can't be a header value, typed or in the URL", async ({ browser }) => {
    const server = await serveDashboard()
    for (const token of ['d\u043ekument', 'a\u0000b', '\u{1f511}', '%E0%A4%A', 'x%0Ay']) {
      const { page, faults, close } = await visit(browser as Browser, server.url, { token })
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.locator('.problem').waitFor()
      assert.is(await page.evaluate('sessionStorage.length'), 0)
      await page.getByLabel('Admin token').fill('\u043a\u043b\u044e\u0447')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText(/HTTP header/).waitFor()
      assert.equal(
        faults.filter((fault) => !fault.includes('401')),
        [],
      )
      await close()
    }
    await server.close()
  })

  test("table buttons aren't cut off at 1,280 pixels wide, and chart labels are readable at 360", async ({
    browser,
  }) => {
    const server = await serveDashboard()
    await fill(server)
    const { connections } = await server.gateway.api.connections.list()
    for (const { id, name } of connections)
      await server.gateway.api.connections.update(id, {
        name: `${name} with a long name`,
        isActive: false,
        draining: true,
      })
    const spare = connections.find(({ name }) => name === 'spare')
    await server.gateway.api.connections.update(spare?.id ?? '', { isActive: true })
    await (await server.send({ model: 'fast' })).text() // "groq" fails, so there is health to reset
    const { page, close } = await visit(browser as Browser, server.url)
    for (const link of ['#/targets', '#/keys', '#/combos', '#/models']) {
      await goTo(page, link)
      const cut: string[] = await page.evaluate(
        "[...document.querySelectorAll('td button')].filter((one) => one.getBoundingClientRect().right > one.closest('.table').getBoundingClientRect().right).map((one) => one.ariaLabel)",
      )
      assert.equal(cut, [], `nothing is cut off on ${link}`)
    }
    await goTo(page, '#/usage')
    await page.setViewportSize({ width: 360, height: 800 }) // shrinks the window while the page is open
    await until(async () => (await labelHeight(page)) < 20)
    for (const link of ['#/usage', '#/']) {
      await goTo(page, link)
      await page.locator('svg.chart text').first().waitFor()
      const height = await labelHeight(page)
      assert.ok(height >= 11, `labels on ${link} are ${height} pixels high`)
    }
    await close()
    await server.close()
  })

  test('a streamed attempt shows its time to first token', async ({ browser }) => {
    const server = await serveDashboard()
    await fill(server)
    const { requests } = await server.gateway.api.usage.requests({ end: 'complete' })
    const { page, close } = await visit(browser as Browser, server.url)
    await goTo(page, `#/requests/${requests[0]?.id}`)
    await page.getByText(/first token after .+, .+ total/).waitFor()
    await close()
    await server.close()
  })
}

const labelHeight = (page: Page): Promise<number> =>
  page.evaluate("document.querySelector('svg.chart text').getBoundingClientRect().height")

interface Opened {
  page: Page
  dialog: Locator
  api: DashboardServer['gateway']['api']
  /** Reopens the dialog with the stored record. */
  reopen(): Promise<void>
}

async function withDialog(
  browser: Browser | undefined,
  [link, button]: readonly [string, string],
  use: (opened: Opened) => Promise<void>,
): Promise<void> {
  const server = await serveDashboard()
  await fill(server)
  const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`
  const dialog = page.getByRole('dialog')
  async function reopen() {
    await goTo(page, '#/nowhere')
    await goTo(page, link)
    await page.getByRole('button', { name: button, exact: true }).click()
    await dialog.waitFor()
  }
  await reopen()
  await use({ page, dialog, api: server.gateway.api, reopen })
  assert.equal(
    faults.filter((fault) => !/status of 40[04]/.test(fault)),
    [],
  )
  await close()
  await server.close()
}

async function save(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Clicks the save button, and expects the error at the field with this label. */
async function saidAt(page: Page, dialog: Locator, label: string, error: string | RegExp): Promise<void> {
  await dialog.getByRole('button', { name: 'Save' }).click()
  const field = dialog.getByLabel(label, { exact: true })
  await dialog.locator('.field .error').waitFor()
  assert.is(await field.getAttribute('aria-invalid'), 'true')
  const describedBy = ((await field.getAttribute('aria-describedby')) ?? '').split(' ').at(-1)
  assert.match((await dialog.locator(`[id="${describedBy}"]`).textContent()) ?? '', error)
  await field.and(page.locator(':focus')).waitFor()
  assert.is(await dialog.locator('.problem').count(), 0)
}
