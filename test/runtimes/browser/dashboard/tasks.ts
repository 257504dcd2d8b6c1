import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { FAILURE, serveDashboard, TOKEN } from './site.ts'
import { visit, waitUntilSettled } from './visit.ts'

/** Tests an operator's tasks in the dashboard, from the first visit to finding out why a request was rejected. */
export function addOperatorTaskTests(test: Suite<{ browser?: Browser }>): void {
  test('an operator can create a key and a combo, and see why requests are rejected', async ({ browser }) => {
    const server = await serveDashboard()
    for (const [provider, apiKey] of [
      ['groq', 'gsk_0123456789abcdef'],
      ['openai', 'sk-0123456789abcdef'],
    ] as const)
      await server.gateway.api.connections.create({ provider, apiKey })
    await server.gateway.api.settings.update({ requireApiKey: true })
    const { page, faults, close } = await visit(browser as Browser, server.url) // launched by `before`

    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.not.match(page.url(), TOKEN)
    assert.is(
      await page.evaluate('history.length'),
      2,
      'the history has the blank page and this page without the token in its URL',
    )
    assert.equal(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]'), ['', 0, 1])

    const key = await makeKey(page)
    await makeCombo(page)

    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await waitUntilSettled(page)
    await page.getByText('No matching requests.').waitFor()
    const response = await server.send({ model: 'fast' }, { key })
    assert.match(await response.text(), 'Hello')
    const row = page.getByRole('row', { name: /ci fast openai\/gpt-5-mini 200/ })
    await row.waitFor()
    await row.getByRole('link').click()
    const attempts = page.locator('ol.attempts > li')
    await attempts.nth(1).waitFor()
    assert.match((await attempts.nth(0).textContent()) ?? '', /groq\/llama-3\.3-70b-versatile.*503/)
    assert.match((await attempts.nth(0).textContent()) ?? '', FAILURE)
    assert.match((await attempts.nth(1).textContent()) ?? '', /openai\/gpt-5-mini.*200/)

    await page.getByRole('link', { name: '← All requests' }).click()
    await waitUntilSettled(page)
    const rejected = await server.send({ model: 'fast' }, { key })
    assert.is(rejected.status, 402)
    await rejected.text()
    await page
      .getByRole('row', { name: /ci fast .*402/ })
      .first()
      .getByRole('link')
      .click()
    await page
      .locator('.notice')
      .getByText(/usd|US dollars|\$0\.01/i)
      .waitFor()

    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Pause: ci' }).click()
    await page.getByRole('button', { name: 'Resume: ci' }).waitFor()
    const paused = await server.send({ model: 'fast' }, { key })
    assert.is(paused.status, 403)
    await paused.text()
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await page.getByRole('row', { name: /403/ }).waitFor()

    await page.getByRole('link', { name: 'Usage', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    assert.is(download.suggestedFilename(), 'usage.csv')
    assert.match(await readFile(await download.path(), 'utf8'), /requests.*\r?\n/)

    assert.not.match(await page.content(), key)
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}

/** Creates a key. Resolves to its value, which is only shown once. */
async function makeKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ci')
  await dialog.getByRole('button', { name: 'Add limit' }).click()
  await dialog.getByLabel('Limit', { exact: true }).fill('0.01')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  const value = dialog.getByText(/^sbx_[\w-]+$/)
  await value.waitFor()
  const key = (await value.textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' }) // wait until the dialog has closed
  await page.getByRole('row', { name: /^ci .*\$0\.01 per month/ }).waitFor()
  assert.not.match(await page.content(), key)
  return key
}

async function makeCombo(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Combos', exact: true }).click()
  await page.getByRole('button', { name: 'Create combo' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('fast')
  await dialog.getByRole('button', { name: 'Add model' }).click()
  const models = dialog.getByLabel('Model', { exact: true })
  await models.nth(0).fill('openai/gpt-5-mini')
  await models.nth(1).fill('groq/llama-3.3-70b-versatile')
  await dialog.getByRole('button', { name: /^Move groq/ }).press('Alt+ArrowUp') // with the keyboard only
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('cell', { name: 'groq/llama-3.3-70b-versatile → openai/gpt-5-mini' }).waitFor()
}
