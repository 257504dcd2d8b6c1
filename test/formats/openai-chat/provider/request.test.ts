import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import type { Tool } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import type { ReasoningTraits, Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const EMPTY: CanonicalRequest = { model: 'm', stream: false, streamUsage: false, turns: [], tools: [], options: {} }

function write(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target } = contexts(chatTranslator, { traits })
  return chatTranslator.writeRequest({ ...EMPTY, ...request }, target).body
}

const messages = (turns: Turn[], traits?: Partial<Traits>) => write({ turns }, traits).messages
const text = (text: string) => ({ type: 'text', text }) as const
const reasoning = (traits: Partial<ReasoningTraits>) => ({
  reasoning: { ...chatTranslator.traits.reasoning, ...traits },
})

const turns = suite('messages for a Chat Completions provider')

turns('instructions in several blocks become one message', () => {
  const instructions = (content: string): Turn => ({ role: 'system', sentAs: 'instructions', content: [text(content)] })
  assert.equal(messages([instructions('a'), instructions('b'), { role: 'user', content: [text('q')] }]), [
    { role: 'system', content: 'a\n\nb' },
    { role: 'user', content: 'q' },
  ])
})

turns('a cache breakpoint is written in the form that the vendor accepts', () => {
  const marked: Turn[] = [{ role: 'system', sentAs: 'system', content: [{ ...text('a'), cache: { ttl: '1h' } }] }]
  const mark = (traits: Partial<Traits>) => Object(messages(marked, traits)).at(0).content
  assert.equal(mark({ cacheBreakpoints: 'cache_control' }), [
    { ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' } },
  ])
  assert.equal(mark({ cacheBreakpoints: 'prompt_cache_breakpoint' }), [
    { ...text('a'), prompt_cache_breakpoint: { mode: 'explicit' } },
  ])
  assert.is(mark({ cacheBreakpoints: 'none' }), 'a')
})

const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', arguments: '{"a":12345678901234567890}' }
const wireCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":12345678901234567890}' } }

turns('a message with only calls has null content, and arguments stay unchanged', () => {
  assert.equal(messages([{ role: 'assistant', content: [call] }]), [
    { role: 'assistant', content: null, tool_calls: [wireCall] },
  ])
})

turns('a call without arguments gets an empty object', () => {
  const [written] = Object(messages([{ role: 'assistant', content: [{ ...call, arguments: '' }] }]))
  assert.is(written.tool_calls[0].function.arguments, '{}')
})

turns('a tool result becomes text, which begins with `Error: ` for an error', () => {
  const results = [{ callId: 'c', content: [text('a'), text('b')], isError: true as const }]
  assert.equal(messages([{ role: 'tool', results }]), [{ role: 'tool', tool_call_id: 'c', content: 'Error: a\nb' }])
})

turns('a generated image goes into the assistant message for vendors with a field for it', () => {
  const image = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } } as const
  const requestOptions: Turn = { role: 'user', content: [text('q')] }
  const createImageTurn = (...content: AssistantPart[]) =>
    messages([requestOptions, { role: 'assistant', name: 'a', content }, requestOptions])
  const request = { role: 'user', content: 'q' }
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]
  assert.equal(createImageTurn(image), [request, { role: 'assistant', content: null, name: 'a', images }, request])
  const both = { role: 'assistant', content: 'so', name: 'a', images }
  assert.equal(createImageTurn(image, text('so')), [request, both, request])
})

turns('images and files become data URLs or URLs', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'AA==' } as const
  const pdf = { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' } as const
  const content = [
    text('q'),
    { type: 'image', source, detail: 'high' } as const,
    { type: 'file', source: pdf } as const,
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'words' } } as const,
  ]
  assert.equal(messages([{ role: 'user', content }]), [
    {
      role: 'user',
      content: [
        text('q'),
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'file.pdf' } },
        text('words'),
      ],
    },
  ])
})

const state = (kind: OpaqueState['kind'], data = ''): OpaqueState => ({
  origin: { format: 'openai-chat', account: 'v' },
  kind,
  data,
})
const thought: AssistantPart = { type: 'reasoning', text: 'hm', state: state('text') }

turns("reasoning goes into the vendor's reasoning field", () => {
  const field = (name: ReasoningTraits['field'], part: AssistantPart = thought) =>
    Object(messages([{ role: 'assistant', content: [part, text('a')] }], reasoning({ field: name }))).at(0)
  assert.equal(field('reasoning_content'), { role: 'assistant', content: 'a', reasoning_content: 'hm' })
  assert.equal(field('reasoning'), { role: 'assistant', content: 'a', reasoning: 'hm' })
  const thinking = { type: 'thinking', thinking: [text('hm')] }
  assert.equal(field('thinking-parts'), { role: 'assistant', content: [thinking, text('a')] })
  const detail: AssistantPart = {
    type: 'reasoning',
    text: 'hm',
    state: state('detail', '{"type":"reasoning.text","signature":"s"}'),
  }
  assert.equal(field('reasoning_details', detail), {
    role: 'assistant',
    content: 'a',
    reasoning_details: [{ type: 'reasoning.text', signature: 's', text: 'hm' }],
  })
})

turns('a message without reasoning still has the reasoning field if the vendor requires it', () => {
  const spoken = { role: 'assistant' as const, content: [text('a')] }
  assert.equal(messages([spoken], reasoning({ needsField: true })), [
    { role: 'assistant', content: 'a', reasoning_content: '' },
  ])
})

const options = suite('options for a Chat Completions provider')

const switches: [by: ReasoningTraits['control'], asked: RequestOptions['reasoning'], expected: object][] = [
  ['effort', { effort: 'low', budget: 2_048 }, { reasoning_effort: 'low' }],
  ['effort', { budget: 'auto' }, {}],
  ['effort', { show: 'none' }, {}],
  ['thinking', { effort: 'high', budget: 9 }, { thinking: { type: 'enabled' } }],
  ['thinking', { effort: 'none', budget: 0 }, { thinking: { type: 'disabled' } }],
  ['thinking-effort', { effort: 'max', budget: 9 }, { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
  ['thinking-effort', { effort: 'none', budget: 0 }, { thinking: { type: 'disabled' } }],
  ['enable_thinking', { effort: 'high', budget: 9 }, { enable_thinking: true, thinking_budget: 9 }],
  ['reasoning-object', { effort: 'high', show: 'none' }, { reasoning: { effort: 'high', exclude: true } }],
  ['chat-template', { effort: 'none' }, { chat_template_kwargs: { enable_thinking: false } }],
  ['none', { effort: 'high' }, {}],
]

for (const [control, requested, expected] of switches) {
  options(`reasoning is set in the vendor's own fields: ${control} ${JSON.stringify(requested)}`, () => {
    const {
      model,
      messages: _,
      ...rest
    } = write({ options: requested ? { reasoning: requested } : {} }, reasoning({ control }))
    assert.equal(rest, expected)
    assert.is(model, 'm')
  })
}

options('the tool choice is dropped if the only tool is a web search', () => {
  const tools: Tool[] = [{ type: 'web-search' }]
  const { web_search_options, tool_choice } = write({ tools, toolChoice: { type: 'required' } })
  assert.equal([web_search_options, tool_choice], [{}, undefined])
})

options('speech without a format is requested as raw samples, as in Google’s API', () => {
  assert.equal(write({ options: { speech: { voice: 'a' } } }).audio, { voice: 'a', format: 'pcm16' })
})

options('the output limit is sent in the field that the model accepts', () => {
  const limit = { options: { maxOutputTokens: 5 } }
  assert.is(write(limit).max_completion_tokens, 5)
  assert.is(write(limit, { outputLimitField: 'max_tokens' }).max_tokens, 5)
})

options('a long user ID is shortened consistently', () => {
  const endUser = 'u'.repeat(300)
  const id = write({ options: { endUser } }).safety_identifier
  assert.is(String(id).length, 128)
  assert.is(write({ options: { endUser } }).safety_identifier, id)
})

options('a streaming request asks for usage if the vendor supports that', () => {
  assert.equal(write({ stream: true }).stream_options, { include_usage: true })
  assert.is(write({ stream: true }, { streamUsage: false }).stream_options, undefined)
  assert.is(write({}).stream, undefined)
})
