import { assert, suite } from '../../../support/suite.ts'
import { MESSAGES, parse } from '../support/parse-request.ts'

const output = (content: unknown) => parse({ messages: [{ role: 'user', content }] }).turns[0]
const assistant = (message: object) => parse({ messages: [...MESSAGES, { role: 'assistant', ...message }] }).turns[1]

const content = suite('Chat Completions request content')
const PNG = 'iVBORw0KGgoAAAANSUhEUg=='
const png = { type: 'base64', mediaType: 'image/png', data: PNG } as const

const parts: Record<string, [part: object, expected: object]> = {
  text: [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'a' },
  ],
  'a cache breakpoint': [
    { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: 'a', cache: { ttl: '1h' } },
  ],
  "OpenAI's cache breakpoint": [
    { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
    { type: 'text', text: 'a', cache: {} },
  ],
  'an image URL': [
    { type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'low' } },
    { type: 'image', source: { type: 'url', url: 'https://a/b.png' }, detail: 'low' },
  ],
  'a base64 image': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: 'image', source: png },
  ],
  "Mistral's image format": [
    { type: 'image_url', image_url: `data:image/png;base64,${PNG}` },
    { type: 'image', source: png },
  ],
  audio: [
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'audio', source: { type: 'base64', mediaType: 'audio/mpeg', data: 'AAAA' } },
  ],
  'a base64 file': [
    { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
    { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
  ],
  'bare base64 instead of a data URL': [
    { type: 'file_url', file_url: { url: 'UEsDBBQA' }, file_name: 'a.docx' },
    {
      type: 'file',
      source: { type: 'base64', mediaType: 'application/octet-stream', data: 'UEsDBBQA' },
      name: 'a.docx',
    },
  ],
  'a file ID': [
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'file', source: { type: 'file-id', id: 'file-1', format: 'openai-chat' } },
  ],
  video: [
    { type: 'video_url', video_url: { url: 'https://a/b.mp4' } },
    { type: 'video', source: { type: 'url', url: 'https://a/b.mp4' } },
  ],
}

for (const [name, [part, expected]] of Object.entries(parts)) {
  content(`parses ${name}`, () => assert.equal(output([part]), { role: 'user', content: [expected] }))
}

content('content can be a string or parts, and empty text parts are omitted', () => {
  assert.equal(output('a'), { role: 'user', content: [{ type: 'text', text: 'a' }] })
  assert.equal(output(''), { role: 'user', content: [] })
  assert.equal(output([{ type: 'text', text: '' }]), { role: 'user', content: [] })
})

content('content of an unknown type is rejected rather than passed on as text', () => {
  assert.throws(
    () => output([{ type: 'text', text: 'a' }, { type: 'hologram' }]),
    /"messages\[0\]\.content\[1\]\.type"/,
  )
})

const history = suite('Chat Completions request history')
const fn = (name: string, args: unknown) => ({ type: 'function', function: { name, arguments: args } })

history('call arguments stay unchanged', () => {
  for (const args of ['', '{"a":12345678901234567890}', '{"path":"/tm']) {
    const turn = assistant({ content: null, tool_calls: [{ id: 'c', ...fn('f', args) }] })
    const [part] = turn?.role === 'assistant' ? turn.content : []
    assert.is(part?.type === 'tool-call' ? part.arguments : undefined, args)
  }
})

history('consecutive tool results become one turn', () => {
  const { turns } = parse({
    messages: [
      ...MESSAGES,
      {
        role: 'assistant',
        content: 'so',
        tool_calls: [
          { id: 'a', ...fn('f', '{}') },
          { id: 'b', type: 'custom', custom: { name: 'g', input: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '2' }] },
    ],
  })
  assert.equal(turns.slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'so' },
        { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        { type: 'tool-call', id: 'b', name: 'g', arguments: 'x', isFreeForm: true },
      ],
    },
    {
      role: 'tool',
      results: [
        { callId: 'a', content: [{ type: 'text', text: '1' }] },
        { callId: 'b', content: [{ type: 'text', text: '2' }] },
      ],
    },
  ])
})

history('a legacy function message belongs to the previous call', () => {
  const { turns, client } = parse({
    functions: [{ name: 'f' }],
    messages: [
      ...MESSAGES,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: '1' },
    ],
  })
  assert.equal(turns[1], {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'call_0', name: 'f', arguments: '{}' }],
  })
  assert.equal(turns[2], {
    role: 'tool',
    results: [{ callId: 'call_0', name: 'f', content: [{ type: 'text', text: '1' }] }],
  })
  assert.equal(client, { functions: true })
})

const bare = { origin: { format: 'openai-chat', account: '' }, kind: 'text', data: '' } as const

history('reasoning comes first in a turn, whatever its field', () => {
  const expected = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', state: bare },
      { type: 'text', text: 'a' },
    ],
  }
  assert.equal(assistant({ content: 'a', reasoning_content: 'hm' }), expected)
  assert.equal(assistant({ content: 'a', reasoning: 'hm' }), expected)
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
  assert.equal(assistant({ content: [thinking, { type: 'text', text: 'a' }] }), expected)
})

history('a refusal becomes a refusal part', () => {
  assert.equal(assistant({ content: null, refusal: 'no' }), {
    role: 'assistant',
    content: [{ type: 'refusal', text: 'no' }],
  })
})
