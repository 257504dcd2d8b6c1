import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { assert, suite } from '../../../support/suite.ts'
import { call, parse, result } from '../support/parse-request.ts'

const test = suite('parsing the input of a Responses request')

const getTurns = (...input: object[]) => parse({ input }).turns
const text = (value: string) => ({ type: 'text', text: value })

const createCall = (id: string, fields = {}) => ({ type: 'tool-call', id, name: 'f', arguments: '{}', ...fields })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const BARE = { format: 'openai-responses', account: '' }
const PNG = 'iVBORw0KGgoAAAANSUhEUg=='

test('a string becomes one user turn, after the instructions', () => {
  assert.equal(parse({ input: 'hi', instructions: 'be brief' }).turns, [
    { role: 'system', sentAs: 'instructions', content: [text('be brief')] },
    user([text('hi')]),
  ])
})

/** Input items, with the expected turns. */
const conversations: Record<string, [items: object[], turns: object[]]> = {
  'messages of each role, with and without a type': [
    [
      { role: 'system', content: 's' },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a' },
    ],
    [
      { role: 'system', sentAs: 'system', content: [text('s')] },
      { role: 'system', sentAs: 'developer', content: [text('d')] },
      user([text('u')]),
      assistant([text('a')]),
    ],
  ],
  "the model's items as one turn, and results as another": [
    [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'g' },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }],
      },
      call('c1', { id: 'fc_1', status: 'completed' }),
      call('c2'),
      result('c1'),
      result('c2'),
      user('next'),
    ],
    [
      assistant([
        {
          type: 'reasoning',
          text: 't',
          isSummary: true,
          state: { origin: BARE, kind: 'encrypted', data: 'g', id: 'rs_1' },
        },
        { type: 'text', text: 'a', phase: 'commentary' },
        createCall('c1'),
        createCall('c2'),
      ]),
      {
        role: 'tool',
        results: [
          { callId: 'c1', content: [text('r')] },
          { callId: 'c2', content: [text('r')] },
        ],
      },
      user([text('next')]),
    ],
  ],
  'a message between a call and its result': [
    [call('c1'), { role: 'assistant', content: 'wait' }, result('c1')],
    [assistant([createCall('c1'), text('wait')]), { role: 'tool', results: [{ callId: 'c1', content: [text('r')] }] }],
  ],
  'a result without a call ID': [
    [call('c1'), call('c2'), result('c1'), result(undefined)],
    [
      assistant([createCall('c1'), createCall('c2')]),
      {
        role: 'tool',
        results: [
          { callId: 'c1', content: [text('r')] },
          { callId: 'c2', content: [text('r')] },
        ],
      },
    ],
  ],
  'a call with only an item ID': [
    [{ ...call(''), id: 'fc_1' }, result('fc_1')],
    [assistant([createCall('fc_1')]), { role: 'tool', results: [{ callId: 'fc_1', content: [text('r')] }] }],
  ],
  'a free-form tool': [
    [
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
    ],
    [
      assistant([{ type: 'tool-call', id: 'c1', name: 'patch', arguments: '*** Begin', isFreeForm: true }]),
      { role: 'tool', results: [{ callId: 'c1', content: [text('done')], isFreeForm: true }] },
    ],
  ],
  'reasoning stored elsewhere, which is dropped without side effects': [
    [{ type: 'reasoning', id: 'rs_2', summary: [] }, call('c1'), result('c1')],
    [assistant([createCall('c1')]), { role: 'tool', results: [{ callId: 'c1', content: [text('r')] }] }],
  ],
  'unencrypted reasoning, which becomes text again': [
    [
      {
        type: 'reasoning',
        id: 'x',
        summary: [],
        content: [{ type: 'reasoning_text', text: 't' }],
        encrypted_content: null,
      },
    ],
    [assistant([{ type: 'reasoning', text: 't', state: { origin: BARE, kind: 'text', data: '' } }])],
  ],
  'several summaries as one reasoning part': [
    [
      {
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
      },
    ],
    [assistant([{ type: 'reasoning', text: 'a\n\nb', isSummary: true }])],
  ],
  'a refusal, a search, and a generated image': [
    [
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a.example/' }] },
      },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG, output_format: 'png' },
    ],
    [
      assistant([
        { type: 'refusal', text: 'no' },
        {
          type: 'server-tool',
          tool: 'web-search',
          id: 'ws_1',
          query: 'q',
          results: [{ url: 'https://a.example/', title: '' }],
        },
        { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: PNG } },
      ]),
    ],
  ],
  'images, files, and audio': [
    [
      user([
        { type: 'input_image', image_url: `data:image/jpeg;base64,${PNG}`, detail: 'auto' },
        { type: 'input_image', image_url: 'https://a.example/i', detail: 'low' },
        { type: 'input_image', file_id: 'file_1', detail: 'high' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
        { type: 'input_file', file_url: 'https://a.example/f' },
        { type: 'input_file', file_id: 'file_2' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'input_text', text: 'what?', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } },
      ]),
    ],
    [
      user([
        { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: PNG } },
        { type: 'image', source: { type: 'url', url: 'https://a.example/i' }, detail: 'low' },
        { type: 'image', source: { type: 'file-id', id: 'file_1', format: 'openai-responses' }, detail: 'high' },
        { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
        { type: 'file', source: { type: 'url', url: 'https://a.example/f' } },
        { type: 'file', source: { type: 'file-id', id: 'file_2', format: 'openai-responses' } },
        { type: 'audio', source: { type: 'base64', mediaType: 'audio/mpeg', data: 'AAAA' } },
        { type: 'text', text: 'what?', cache: { ttl: '30m' } },
      ]),
    ],
  ],
  'parts in a tool result': [
    [
      call('c1'),
      result('c1', [
        { type: 'input_text', text: 'r' },
        { type: 'input_image', image_url: 'https://a.example/i' },
      ]),
    ],
    [
      assistant([createCall('c1')]),
      {
        role: 'tool',
        results: [
          {
            callId: 'c1',
            content: [text('r'), { type: 'image', source: { type: 'url', url: 'https://a.example/i' } }],
          },
        ],
      },
    ],
  ],
}

for (const [name, [items, turns]] of Object.entries(conversations))
  test(`parses the input: ${name}`, () => assert.equal(getTurns(...items), turns))

test('reasoning from other formats is restored in full, and state returns to its part', () => {
  const thought = { origin: { format: 'anthropic-messages', account: 'a/1' }, kind: 'signature', data: 's:1' } as const
  const signature = { origin: { format: 'gemini', account: 'g/1' }, kind: 'thought-signature', data: 'z' } as const
  assert.equal(
    getTurns(
      { type: 'reasoning', id: 'rs_x', summary: [{ text: 't' }], encrypted_content: sealState(thought) },
      { type: 'reasoning', id: 'rs_y', summary: [], encrypted_content: sealState({ ...signature, id: 'c1' }) },
      call('c1'),
    ),
    [assistant([{ type: 'reasoning', text: 't', state: thought }, createCall('c1', { state: signature })])],
  )
})
