import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { getBody, json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseResponse, eventFrame } from '../support/event-stream.ts'
import { candidate, chat, message, type Recorded } from './response-field-cases.ts'
import { delta, getData, getStream, openGateway, providerOf, type RequestInput, send } from './support.ts'

const test = suite('cases: responses that pause')

const paused = (
  result: Recorded,
): Pick<RequestInput, 'model'> & { whole: () => Response; streamed: () => Response } => ({
  model: `${providerOf[result.from]}/m`,
  whole: () => json(result.response),
  streamed: () => getStream(result.from, result.events),
})

const chatWith = (finish_reason: string): Recorded => {
  const { response, events } = chat({})
  const [choice] = response.choices as JsonObject[] // `chat` creates a choice
  const [first = {}] = events
  return {
    from: 'openai-chat',
    response: { ...response, choices: [{ ...choice, finish_reason }] },
    events: [first, delta({}, finish_reason), '[DONE]'],
  }
}

const bedrock = {
  catalog: { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } },
  connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }],
} as const

const frames = () => [
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'a' } }),
  eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
  eventFrame('messageStop', { stopReason: 'pause_turn' }),
  eventFrame('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
]

/** A paused response in each provider format, and the provider's term for the pause. */
const pauses: Record<string, [word: string, recorded: ReturnType<typeof paused>, more?: Partial<RequestInput>]> = {
  Anthropic: ['pause_turn', paused(message([{ type: 'text', text: 'a' }], { stop_reason: 'pause_turn' }))],
  Google: ['CONTINUATION', paused(candidate([{ text: 'a' }], { finishReason: 'CONTINUATION' }))],
  "a server that passes Anthropic's reason through": ['pause_turn', paused(chatWith('pause_turn'))],
  "a server that passes Google's reason through": ['CONTINUATION', paused(chatWith('CONTINUATION'))],
  Bedrock: [
    'pause_turn',
    {
      model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      whole: () => json({ ...converseResponse(), stopReason: 'pause_turn' }),
      streamed: () =>
        new Response(getBody(frames()), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } }),
    },
    bedrock,
  ],
}

/** Returns the finish of a non-streaming response in each format. */
const endOf: Record<WireFormat, (answer: JsonObject) => unknown> = {
  'openai-chat': ({ choices }) => (choices as JsonObject[])[0]?.finish_reason,
  'openai-responses': ({ status, incomplete_details }) => [status, incomplete_details],
  'anthropic-messages': ({ stop_reason }) => stop_reason,
  gemini: ({ candidates }) => (candidates as JsonObject[])[0]?.finishReason,
}

/** Returns each format's marker for the end of a stream. */
const endIn: Record<WireFormat, (events: JsonObject[]) => unknown> = {
  'openai-chat': (events) => events.flatMap(({ choices }) => (choices as JsonObject[])[0]?.finish_reason ?? []).at(-1),
  'openai-responses': (events) => {
    const { type, response } = events.at(-1) ?? {}
    return type === 'response.incomplete' ? endOf['openai-responses'](response as JsonObject) : type
  },
  'anthropic-messages': (events) => {
    const { delta } = events.find(({ type }) => type === 'message_delta') ?? {}
    return endOf['anthropic-messages'](delta as JsonObject)
  },
  gemini: (events) => endOf.gemini(events.at(-1) ?? {}),
}

const ends: Record<WireFormat, unknown> = {
  'openai-chat': 'length',
  'openai-responses': ['incomplete', { reason: 'max_output_tokens' }],
  'anthropic-messages': 'pause_turn',
  gemini: 'CONTINUATION',
}

for (const [vendor, [word, { model, whole, streamed }, extra]] of Object.entries(pauses))
  for (const client of wireFormats) {
    if (model === `${providerOf[client]}/m`) continue // passed through without translation
    const warnings = client === 'openai-chat' || client === 'openai-responses' ? [`replaced:answer.${word}`] : []

    test(`a paused response never looks complete (${vendor}, ${client} client)`, async () => {
      const { response, warned } = await send({ client, model, respond: whole, ...extra })
      const result = warned.filter((value) => value.includes('answer.'))
      assert.equal([endOf[client](await response.json()), result], [ends[client], warnings])
    })

    test(`a paused stream never looks complete (${vendor}, ${client} client)`, async () => {
      const { response, world } = await send({ client, model, respond: streamed, stream: true, ...extra })
      assert.equal(endIn[client](await getData(response)), ends[client])
      const result = world.recorded.requests[0]?.warnings?.filter((warning) => warning.includes('answer.')) ?? []
      assert.equal(result, warnings)
    })
  }

test('a paused response gives the AI SDK the finish reason "other" and the provider\'s reason', async () => {
  const { response: reply } = message([{ type: 'text', text: 'a' }], { stop_reason: 'pause_turn' })
  const { world } = await openGateway(() => json(reply))
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
  const headers = { 'ai-language-model-id': 'messages/m' }
  const response = await world.post('/v4/ai/language-model', { prompt }, { headers })
  assert.equal((await response.json()).finishReason, { unified: 'other', raw: 'pause_turn' })
})
