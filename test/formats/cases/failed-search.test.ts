import type { JsonObject } from '../../../src/lib/json.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { answerOf } from './collect-response.ts'
import { fullResponses } from './responses.ts'
import { getStream, send } from './support.ts'

const test = suite('cases: failed searches')

const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'rain' } }
const createFailedSearch = (error_code: string) => ({
  type: 'web_search_tool_result',
  tool_use_id: 's1',
  content: { type: 'web_search_tool_result_error', error_code },
})
const call = (status: string) => ({
  ...{ type: 'web_search_call', id: 'ws_1', status },
  action: { type: 'search', query: 'rain', sources: [] },
})

const anthropic = [
  { type: 'message_start', message: { ...fullResponses['anthropic-messages'], content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { ...search, input: {} } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"rain"}' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: createFailedSearch('max_uses_exceeded') },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

test('a failed search has the status "failed" for Responses clients', async () => {
  const request = { client: 'openai-responses', model: 'messages/m' } as const
  const content = [search, createFailedSearch('max_uses_exceeded')]
  const { response } = await send({
    ...request,
    respond: () => json({ ...fullResponses['anthropic-messages'], content }),
  })
  assert.is((await response.json()).output[0].status, 'failed')
  const streamed = await send({ ...request, stream: true, respond: () => getStream('anthropic-messages', anthropic) })
  const { output } = await answerOf['openai-responses'](streamed.response)
  const [item] = output as JsonObject[]
  assert.equal([item?.type, item?.status], ['web_search_call', 'failed'])
})

test('a failed search has an error for Messages clients', async () => {
  const output = [call('failed'), call('completed')]
  const respond = () => json({ ...fullResponses['openai-responses'], output })
  const { response } = await send({ client: 'anthropic-messages', model: 'responses/m', respond })
  const [, error, , found] = (await response.json()).content
  assert.equal(error.content, { type: 'web_search_tool_result_error', error_code: 'unavailable' })
  assert.equal(found.content, [])
})

test('a failed search in the history becomes text for other providers', async () => {
  const { sent } = await send({
    client: 'anthropic-messages',
    model: 'chat/m',
    respond: () => json(fullResponses['openai-chat']),
    body: {
      messages: [
        { role: 'user', content: 'Rain?' },
        { role: 'assistant', content: [search, createFailedSearch('too_many_requests')] },
        { role: 'user', content: 'So?' },
      ],
    },
  })
  const [, turn] = sent.messages as JsonObject[]
  assert.is(turn?.content, '[Searched the web for: rain]\nError: too_many_requests')
})
