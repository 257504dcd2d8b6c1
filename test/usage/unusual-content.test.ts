import { json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { clients, event, getData, getUsage, type ProviderName, SAID } from './support/reporting.ts'

const test = suite('usage of responses without plain text')

const PICTURE = 'data:image/png;base64,QUJD'
const call = { id: 'c1', type: 'function', index: 0, function: { name: 'f', arguments: JSON.stringify({ a: SAID }) } }
const thought = { type: 'thinking', thinking: SAID }
const CHAT: Readonly<Record<string, object>> = {
  'tool calls (LocalAI#9927)': { tool_calls: [call] },
  'reasoning details': { reasoning_details: [{ type: 'reasoning.text', text: SAID }] },
  'reasoning summaries': { reasoning_details: [{ type: 'reasoning.summary', summary: SAID }] },
  'encrypted reasoning': { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(800) }] },
  'thinking blocks': { thinking_blocks: [thought] },
  thinking: { thinking: SAID },
  'image data URLs': { images: [PICTURE] },
  'image parts': { content: [{ type: 'image_url', image_url: PICTURE }] },
  audio: { audio: { id: 'a', transcript: SAID, data: 'QUJD', expires_at: 1 } },
}
const BLOCKS: Readonly<Record<string, readonly [start: object, delta?: object, whole?: object]>> = {
  'redacted thinking': [{ type: 'redacted_thinking', data: 'x'.repeat(900) }],
  'a compaction': [
    { type: 'compaction', content: null },
    { type: 'compaction_delta', content: SAID },
    { type: 'compaction', content: SAID },
  ],
}
const ITEMS: Readonly<Record<string, object>> = {
  'encrypted reasoning': { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(900) },
  code: { type: 'code_interpreter_call', status: 'completed', code: SAID, container_id: 'c', outputs: null },
  'shell commands': { type: 'shell_call', call_id: 'c', status: 'completed', action: { commands: [SAID] } },
  'local shell commands': { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['sh', SAID] } },
  'a patch': { type: 'apply_patch_call', call_id: 'c', operation: { type: 'create_file', path: 'x', diff: SAID } },
  'a search': { type: 'web_search_call', status: 'completed', action: { type: 'search', query: SAID } },
}

type Input = readonly [what: string, provider: ProviderName, whole: object, events: readonly string[]]

const chatUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const usage = { input_tokens: 0, output_tokens: 0 }
const response = (status: string, output: object[]) => ({
  id: 'r',
  object: 'response',
  model: 'm',
  status,
  output,
  usage,
})
const given: Input[] = [
  ...Object.entries(CHAT).map(([label, modelOutput]): Input => {
    const message = { role: 'assistant', content: null, ...modelOutput }
    return [
      label,
      'chat',
      { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: chatUsage },
      [
        getData({ choices: [{ index: 0, delta: message, finish_reason: null }], usage: chatUsage }),
        getData({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: chatUsage }),
        'data: [DONE]\n\n',
      ],
    ]
  }),
  ...Object.entries(BLOCKS).map(([label, [start, delta, full = start]]): Input => {
    const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', usage }
    return [
      label,
      'claude',
      { ...message, content: [full], stop_reason: 'end_turn' },
      [
        event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
        event({ type: 'content_block_start', index: 0, content_block: start }),
        ...(delta ? [event({ type: 'content_block_delta', index: 0, delta })] : []),
        event({ type: 'content_block_stop', index: 0 }),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
        event({ type: 'message_stop' }),
      ],
    ]
  }),
  ...Object.entries(ITEMS).map(([label, created]): Input => {
    const item = { id: 'i', ...created }
    return [
      label,
      'open',
      response('completed', [item]),
      [
        event({ type: 'response.created', response: { ...response('in_progress', []), usage: null } }),
        event({ type: 'response.output_item.added', output_index: 0, item }),
        event({ type: 'response.output_item.done', output_index: 0, item }),
        event({ type: 'response.completed', response: response('completed', [item]) }),
      ],
    ]
  }),
]

for (const [label, provider, full, events] of given)
  test(`usage of ${label} is estimated if a provider reports zeros (${provider})`, async () => {
    for (const [client, send] of Object.entries(clients)) {
      const one = await getUsage(() => json(full), send(`${provider}/m`, false))
      assert.is(one.source, 'estimated', client)
      assert.ok(one.counts.input > 5 && one.counts.output > 50, `${client}: ${JSON.stringify(one.counts)}`)
      const streamed = await getUsage(() => sse(events), send(`${provider}/m`, true))
      assert.is(streamed.source, 'estimated', `${client}, streamed`)
      assert.ok(
        streamed.counts.input > 5 && streamed.counts.output > 0,
        `${client}: ${JSON.stringify(streamed.counts)}`,
      )
    }
  })

test('reasoning is counted once if a server sends it under several names', async () => {
  const modelOutput = {
    reasoning: SAID,
    reasoning_content: SAID,
    reasoning_details: [{ type: 'reasoning.text', text: SAID }],
  }
  const message = { role: 'assistant', content: '', ...modelOutput }
  const { counts } = await getUsage(
    () => json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage: chatUsage }),
    clients.chat?.('chat/m', false) ?? ['', {}],
  )
  assert.ok(counts.output < 300, `${counts.output}`)
})

test('token counts missing from a response are estimated from its text, or from all of its content', async () => {
  const message = { role: 'assistant', content: SAID }
  const rows = [
    ['chat', { prompt_tokens: '30', completion_tokens: '150' }],
    ['chat', { prompt_tokens: '0', completion_tokens: '0' }],
    ['chat', { prompt_tokens: 30, completion_tokens: null }],
    ['chat', { prompt_tokens: 30, completion_tokens: -1 }],
    ['chat', { prompt_tokens: 30, total_tokens: 30 }],
    ['open', { input_tokens: '30', output_tokens: '150' }],
    ['open', { input_tokens: 30, output_tokens: null }],
    ['open', { input_tokens: 30 }],
  ] as const
  for (const [provider, usage] of rows)
    for (const [client, send] of Object.entries(clients)) {
      const text = { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: SAID }] }
      const full =
        provider === 'open'
          ? { ...response('completed', [text]), usage }
          : { choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
      const answered = await getUsage(() => json(full), send(`${provider}/m`, false))
      const label = `${client}, ${JSON.stringify(usage)}`
      assert.is(answered.source, 'estimated', label)
      assert.ok(answered.counts.output > 100, label)
    }
})
