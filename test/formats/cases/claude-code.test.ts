import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Catalog } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseResponse } from '../support/event-stream.ts'
import { fullResponses } from './responses.ts'
import { openGateway, type RequestInput, send } from './support.ts'

const test = suite("cases: Claude Code's billing line")

const billing = (nonce: number) => `x-anthropic-billing-header: cc_version=2.1.81.df2; cc_entrypoint=cli; cch=${nonce};`
const brief = { type: 'text', text: 'You are Claude Code.', cache_control: { type: 'ephemeral' } }
const hello = [{ role: 'user', content: 'Hi' }]

/** Instructions that begin with the billing line, in various forms. */
const forms: Record<string, (nonce: number) => JsonObject> = {
  'a separate block': (nonce) => ({ system: [{ type: 'text', text: billing(nonce) }, brief] }),
  'the first line of the first block': (nonce) => ({
    system: [{ ...brief, text: `${billing(nonce)}\n\n${brief.text}` }],
  }),
  'the first line of a string': (nonce) => ({ system: `${billing(nonce)}\n${brief.text}` }),
}

const messages = (id: string): Catalog => ({ [id]: { baseUrl: 'http://x.test/v1', format: 'anthropic-messages' } })
const bedrock = {
  catalog: defaultCatalog,
  connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }],
  respond: () => json(converseResponse()),
}

/** Targets that must not receive the line, whether by pass-through or translation. */
const others: Record<string, Partial<RequestInput>> = {
  'openai/gpt-5.6': {
    respond: () => json(fullResponses['openai-responses']),
    catalog: { openai: { baseUrl: 'http://x.test/v1', format: 'openai-responses' } },
  },
  'chat/deepseek-flash': { respond: () => json(fullResponses['openai-chat']) },
  'openrouter/anthropic/claude-sonnet-4-5': {
    respond: () => json(fullResponses['openai-chat']),
    catalog: defaultCatalog,
  },
  'gemini/gemini-3-pro': { respond: () => json(fullResponses.gemini) },
  'bedrock/eu.amazon.nova-pro-v1:0': bedrock,
  'anthropic-compatible-z/glm-5': {
    respond: () => json(fullResponses['anthropic-messages']),
    catalog: messages('anthropic-compatible-z'),
  },
}

/** Targets that ignore the billing line. */
const own: Record<string, Partial<RequestInput>> = {
  'anthropic/claude-sonnet-4-5': { respond: () => json(fullResponses['anthropic-messages']) },
  'anthropic-compatible-z/claude-sonnet-4-5': {
    respond: () => json(fullResponses['anthropic-messages']),
    catalog: messages('anthropic-compatible-z'),
  },
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': bedrock,
}

for (const [label, body] of Object.entries(forms)) {
  for (const [model, request] of Object.entries(others))
    test(`the billing line as ${label} isn't sent to other providers (${model})`, async () => {
      const calls = [1, 2].map((nonce) => {
        const input = { ...body(nonce), messages: hello }
        return send({ client: 'anthropic-messages', model, body: input, respond: () => json({}), ...request })
      })
      const [first, second] = await Promise.all(calls)
      assert.match(JSON.stringify(first?.sent), /You are Claude Code/)
      assert.not.match(JSON.stringify(first?.sent), /billing|cch=/)
      assert.equal([first?.call?.body, first?.warned.filter((name) => name.includes('text'))], [second?.call?.body, []])
    })

  for (const [model, request] of Object.entries(own))
    test(`the billing line as ${label} is kept for targets that ignore it (${model})`, async () => {
      const input = { ...body(1), messages: hello }
      const { sent } = await send({
        client: 'anthropic-messages',
        model,
        body: input,
        respond: () => json({}),
        ...request,
      })
      assert.match(JSON.stringify(sent), /cch=1/)
    })
}

test('removing the billing line leaves the rest of a passthrough request unchanged', async () => {
  const system = JSON.stringify([{ type: 'text', text: `${billing(1)}` }, brief])
  const rest = `"max_tokens": 9,"messages":[{"role":"user","content":"x-anthropic-billing-header: 1.0"}], "n":1.0}`
  const request = { catalog: messages('anthropic-compatible-z'), connections: ['anthropic-compatible-z'] }
  const { upstream, world } = await openGateway(() => json(fullResponses['anthropic-messages']), request)
  await world.post('/v1/messages', `{"model":"anthropic-compatible-z/glm-5", "system": ${system}, ${rest}`)
  assert.is(upstream.calls[0]?.body, `{"model":"glm-5", "system": ${JSON.stringify([brief])}, ${rest}`)
})
