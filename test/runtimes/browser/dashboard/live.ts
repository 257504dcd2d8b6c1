import type { Browser } from 'playwright-core'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { assert, type Suite } from '../../../support/suite.ts'
import { respond, serveDashboard } from './site.ts'
import { goTo, visit } from './visit.ts'

/** Tests the live view of in-flight requests, including across a gateway restart. */
export function addLiveViewTests(test: Suite<{ browser?: Browser }>): void {
  test('the live view shows a running stream with its failed attempt, and reconnects', async ({ browser }) => {
    const storage = memoryStorage()
    let finish = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    const first = await serveDashboard({
      storage,
      fetch: async (input: string | URL | Request, init?: RequestInit) => {
        const response = await respond(input, init)
        if (!response.ok || !response.body) return response
        const full = await response.text()
        const end = full.indexOf('\n\n') + 2
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode(full.slice(0, end)))
            await held
            controller.enqueue(new TextEncoder().encode(full.slice(end)))
            controller.close()
          },
        })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const { api } = first.gateway
    await api.connections.create({ provider: 'groq', apiKey: 'gsk_0123456789abcdef' })
    await api.connections.create({ provider: 'openai', apiKey: 'sk-0123456789abcdef' })
    await api.combos.create({ name: 'fast', models: ['groq/llama-3.3-70b-versatile', 'openai/gpt-5-mini'] })

    const { page, faults, close } = await visit(browser as Browser, first.url) // launched by `before`
    await goTo(page, '#/requests')
    const reply = await first.send({ model: 'fast' })
    const running = page.getByRole('row', {
      name: /fast groq\/llama-3\.3-70b-versatile 503 server error → openai\/gpt-5-mini .*In progress/,
    })
    await running.waitFor()
    await running.getByText(/Time to first token/).waitFor()
    finish()
    await reply.text()
    await page.getByRole('row', { name: /fast openai\/gpt-5-mini 200 Completed/ }).waitFor()
    assert.is(await running.count(), 0)

    await goTo(page, '#/targets')
    await page
      .getByText(/Cooling down|Failing/)
      .first()
      .waitFor()
    await api.connections.create({ provider: 'mistral', apiKey: 'mistral-0123456789abcdef' })
    await page
      .getByRole('row', { name: /mistral/ })
      .first()
      .waitFor()

    await goTo(page, '#/requests')
    assert.equal(faults, [])
    await first.close()
    await page.getByText(/The gateway hasn’t responded since/).waitFor()
    const second = await serveDashboard({ storage, port: Number(new URL(first.url).port) })
    await page.getByText(/The gateway hasn’t responded since/).waitFor({ state: 'detached' })
    const rejected = await second.send({ model: 'nobody/nothing' })
    await rejected.text()
    await page.getByRole('row', { name: /nobody\/nothing/ }).waitFor()
    assert.equal(
      faults.filter((fault) => !/Failed to load resource|net::ERR_/.test(fault)),
      [],
    )
    await close()
    await second.close()
  })
}
