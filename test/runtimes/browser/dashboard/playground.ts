import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { type DashboardServer, FAILURE, serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202e</textarea><script>alert(2)</script>'

/** A provider whose response would run as code on a page that doesn't escape it. */
const hostile: typeof fetch = async () => {
  const event = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    choices: [{ index: 0, delta: { content: HOSTILE } }],
  }
  const end = { ...event, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const text = [event, end].map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')
  return new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}

async function connect({ gateway }: DashboardServer) {
  for (const [provider, apiKey] of [
    ['groq', 'gsk_0123456789abcdef'],
    ['openai', 'sk-0123456789abcdef'],
  ] as const)
    await gateway.api.connections.create({ provider, apiKey })
  const models = ['groq/llama-3.3-70b-versatile', 'openai/gpt-5-mini']
  await gateway.api.combos.create({ name: 'fast', models })
  return gateway.api.keys.create({ name: 'ci', models: ['openai/*'] })
}

/** Tests real model requests that an operator sends from the dashboard. */
export function addPlaygroundTests(test: Suite<{ browser?: Browser }>): void {
  test("an operator can test connections, and see why one doesn't respond", async ({ browser }) => {
    const server = await serveDashboard()
    await connect(server)
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/targets')
    await page.getByRole('button', { name: 'Test: OpenAI' }).click()
    await page
      .getByRole('status')
      .getByText(/Responded in/)
      .waitFor()
    await page.getByRole('button', { name: 'Test: Groq' }).click()
    await page.getByRole('status').getByText(FAILURE).waitFor()
    assert.equal(faults, [])
    await close()
    await server.close()
  })

  test('an operator can call a model in the playground, with and without a key', async ({ browser }) => {
    const server = await serveDashboard()
    const { id } = await connect(server)
    await server.gateway.api.settings.update({ requireApiKey: true })
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/playground')
    await page.getByLabel('Model, combo, or alias').fill('fast')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText(/^Finished in/).waitFor()
    assert.is(await page.getByLabel('Output').inputValue(), 'Hello')
    assert.match(await page.getByLabel('Raw response').inputValue(), /data: .*"Hello"[\s\S]*\[DONE\]/)
    await page
      .locator('dl.facts')
      .getByText(/groq\/llama.*503.*openai\/gpt-5-mini 200/)
      .waitFor()
    await page.locator('dl.facts').getByText(/^\$/).waitFor()

    await page.getByLabel('Request body').fill('{')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Enter a JSON object.').waitFor()
    for (const [format, model] of [
      ['messages', 'openai/gpt-5-mini'],
      ['gemini', 'openai/gpt-5-mini'],
      ['responses', 'openai/gpt-5-mini'],
    ] as const) {
      await page.getByLabel('Request body').fill('{}')
      await page.getByLabel('API format').selectOption('chat')
      await page.getByLabel('Request body').fill(getBody(format))
      await page.getByLabel('API format').selectOption(format)
      await page.getByLabel('Model, combo, or alias').fill(model)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText(/^Waiting|^Receiving/).waitFor({ state: 'detached' })
      assert.is(await page.getByLabel('Output').inputValue(), 'Hello', format)
    }

    await page.getByLabel('API format').selectOption('chat')
    await page.getByLabel('Request body').fill(getBody('chat'))
    await page.getByLabel('Model, combo, or alias').fill('groq/llama-3.3-70b-versatile')
    await page.getByLabel('Send as').selectOption('ci')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await page.locator('dl.facts').getByText('403').waitFor()
    const [rejected] = (await server.gateway.api.usage.requests({ keyId: id })).requests
    assert.equal([rejected?.keyId, rejected?.status], [id, 403])
    await page.locator('dl.facts').getByRole('link').click()
    await page.getByRole('heading', { name: `Request ${rejected?.id}` }).waitFor()
    assert.equal(
      faults.filter((fault) => !/status of 403/.test(fault)),
      [],
    )
    await close()
    await server.close()
  })

  test("a model's output is always shown as text", async ({ browser }) => {
    const server = await serveDashboard({ fetch: hostile })
    await connect(server)
    const { page, faults, close } = await visit(browser as Browser, server.url)
    await goTo(page, '#/playground')
    await page.getByLabel('Model, combo, or alias').fill('openai/gpt-5-mini')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText(/^Finished in/).waitFor()
    const shown = HOSTILE.replace('\u202e', '\\u{202e}')
    assert.is(await page.getByLabel('Output').inputValue(), shown)
    assert.is(await page.locator('main img, main script').count(), 0)
    assert.equal(faults, [])
    await close()
    await server.close()
  })
}

const messages = [{ role: 'user', content: 'Hi' }]
const bodies = {
  chat: { stream: true, messages },
  messages: { max_tokens: 10, stream: true, messages },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  responses: { stream: true, input: 'Hi' },
}
const getBody = (format: keyof typeof bodies) => JSON.stringify(bodies[format])
