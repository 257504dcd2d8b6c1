import type { JsonObject } from '../../src/lib/json.ts'
import type { Catalog } from '../../src/types.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json, type Respond } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite("prompt caching: Claude Code's sessions")

/** Creates the request bodies of a Claude Code session. Each has a different nonce in its billing line, and its own breakpoints. */
function createSession(model: string, turns: number): JsonObject[] {
  const steps = createConversation(createRandom(7), turns)
  const write = clientWriters['anthropic-messages']
  return listRequestEnds(steps).map((end, index) => {
    const { messages, ...body } = write(steps.slice(0, end))
    const ephemeral = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const system = [
      { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.81.df2; cc_entrypoint=cli; cch=${index}f00;` },
      { type: 'text', text: 'You are Claude Code.', ...ephemeral },
      { type: 'text', text: 'Follow the rules. '.repeat(200), ...ephemeral },
    ]
    return { ...body, model, system, messages }
  })
}

/** Sends a session's requests. Returns the bodies that the provider got. */
async function sendSession(model: string, { catalog, respond }: { catalog: Catalog; respond: Respond }) {
  const [provider = ''] = model.split('/')
  const { upstream, world } = await openGateway(respond, { catalog, connections: [provider] })
  const session = createSession(model, 12)
  for (const body of session) {
    const headers = {
      'anthropic-beta': 'context-1m-2025-08-07,claude-code-20250219',
      'anthropic-version': '2023-06-01',
    }
    const response = await world.post('/v1/messages', body, { headers })
    assert.is(response.status, 200, await response.clone().text())
  }
  return { session, calls: upstream.calls }
}

const others: Record<string, { catalog: Catalog; respond: Respond }> = {
  'openai/gpt-5.6': {
    catalog: { openai: { baseUrl: 'http://openai.test/v1', format: 'openai-responses' } },
    respond: () => json(fullResponses['openai-responses']),
  },
  'google/gemini-3-pro-preview': {
    catalog: { google: { baseUrl: 'http://google.test/v1beta', format: 'gemini' } },
    respond: () => json(fullResponses.gemini),
  },
  'deepseek/deepseek-flash': {
    catalog: { deepseek: { baseUrl: 'http://deepseek.test/v1', format: 'openai-chat' } },
    respond: () => json(fullResponses['openai-chat']),
  },
}

for (const [model, target] of Object.entries(others))
  test(`a Claude Code session sends ${model} a stable prefix and no billing line`, async () => {
    const { calls } = await sendSession(model, target)
    let before: string[] | undefined
    for (const { body } of calls) {
      assert.not.match(body, /billing|cch=/)
      const { messages, input, contents, ...rest } = JSON.parse(body)
      const sent = [
        JSON.stringify(rest),
        ...(messages ?? input ?? contents).map((item: unknown) => JSON.stringify(item)),
      ]
      if (before) assert.equal(sent.slice(0, before.length - 1), before.slice(0, -1))
      before = sent
    }
    assert.is(calls.length, 12)
  })

const anthropic = {
  catalog: { anthropic: { baseUrl: 'http://anthropic.test/v1', format: 'anthropic-messages' } } satisfies Catalog,
  respond: () => json(fullResponses['anthropic-messages']),
}

test('a Claude Code session with Anthropic keeps all bytes, including its billing line', async () => {
  const { session, calls } = await sendSession('anthropic/claude-sonnet-4-5', anthropic)
  assert.equal(
    calls.map(({ body }) => body),
    session.map((body) => JSON.stringify({ ...body, model: 'claude-sonnet-4-5' })),
  )
})

test('a Claude Code session with Anthropic gets no additional fields, and keeps its beta header', async () => {
  const { calls } = await sendSession('anthropic/claude-sonnet-4-5', anthropic)
  for (const { headers, body } of calls) {
    assert.is(headers.get('anthropic-beta'), 'context-1m-2025-08-07,claude-code-20250219')
    assert.equal(Object.keys(JSON.parse(body)), ['model', 'max_tokens', 'system', 'tools', 'messages'])
  }
})
