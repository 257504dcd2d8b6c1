import { wireFormats } from '../../../src/types/unions.ts'
import type { Catalog } from '../../../src/types.ts'
import { answerOf } from '../../formats/cases/collect-response.ts'
import { begin, followUps, SECRETS, thinking, thinkingStream } from '../../formats/cases/conversations.ts'
import { getStream, openGateway, request } from '../../formats/cases/support.ts'
import { eventFrame } from '../../formats/support/event-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { getBody, json } from '../support/upstream.ts'

const test = suite('reasoning by models on cloud providers')

const catalog: Catalog = {
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  vertex: { cloud: 'vertex', format: 'gemini', formats: { 'claude-': 'anthropic-messages' } },
}
const connections = [
  { provider: 'bedrock', providerSpecificData: { region: 'us-east-1' } },
  { provider: 'vertex', providerSpecificData: { project: 'mine' } },
]

const [signature, redacted] = SECRETS
const content = 'Let me look.'
const redactedContent = btoa(redacted)

/** Converse's blocks, streamed or not. Bytes are in base64. */
const blocks = [
  { reasoningContent: { reasoningText: { text: content, signature } } },
  { reasoningContent: { redactedContent } },
  ...['c1', 'c2'].map((toolUseId) => ({ toolUse: { toolUseId, name: 'look', input: {} } })),
]
const frames = [
  eventFrame('messageStart', { role: 'assistant' }),
  ...[
    [{ reasoningContent: { text: content } }, { reasoningContent: { signature } }],
    [{ reasoningContent: { redactedContent } }],
    ...['c1', 'c2'].map((toolUseId) => [{ toolUse: { toolUseId, name: 'look' } }]),
  ].flatMap((deltas, contentBlockIndex) => [
    ...deltas.map((delta) =>
      'toolUse' in delta
        ? eventFrame('contentBlockStart', { contentBlockIndex, start: delta })
        : eventFrame('contentBlockDelta', { contentBlockIndex, delta }),
    ),
    eventFrame('contentBlockStop', { contentBlockIndex }),
  ]),
  eventFrame('messageStop', { stopReason: 'tool_use' }),
  eventFrame('metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }),
]

interface Place {
  whole(): Response
  stream(): Response
  /** The model's previous turn, as it is sent back to the model. */
  turn: object
}

const places: Record<string, Place> = {
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    whole: () => json({ output: { message: { role: 'assistant', content: blocks } }, stopReason: 'tool_use' }),
    stream: () => new Response(getBody(frames), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } }),
    turn: { role: 'assistant', content: blocks },
  },
  'vertex/claude-sonnet-4-5@20250929': {
    whole: () => json(thinking['anthropic-messages']),
    stream: () => getStream('anthropic-messages', thinkingStream['anthropic-messages']),
    turn: { role: 'assistant', content: thinking['anthropic-messages'].content },
  },
  'vertex/gemini-3-flash-preview': {
    whole: () => json(thinking.gemini),
    stream: () => getStream('gemini', thinkingStream.gemini),
    turn: {
      role: 'model',
      parts: [
        { functionCall: { name: 'look', args: {} }, thoughtSignature: signature },
        { functionCall: { name: 'look', args: {} } },
      ],
    },
  },
}

/** Removes thought texts, which are meant for people. A Gemini client may send them back. */
const omitGeminiThoughts = (_: string, value: unknown) =>
  Array.isArray(value) ? value.filter((part) => part.thought !== true) : value

for (const [model, { whole, stream, turn }] of Object.entries(places)) {
  for (const client of wireFormats) {
    test(`${client} clients send ${model}'s reasoning back to it`, async () => {
      for (const isStream of [false, true]) {
        const respond = (_: unknown, index: number) => (index === 1 && isStream ? stream() : whole())
        const { upstream, world } = await openGateway(respond, { catalog, connections })
        const first = await request(world, { client, model, body: begin[client], stream: isStream })
        const received = await (isStream ? answerOf[client](first) : first.json())
        const response = await request(world, { client, model, body: followUps[client](received) })
        assert.is(response.status, 200, await response.clone().text())
        const { messages, contents } = JSON.parse(upstream.calls[1]?.body ?? '', omitGeminiThoughts)
        assert.equal((messages ?? contents)[1], turn, isStream ? 'streamed' : 'whole')
      }
    })
  }
}
