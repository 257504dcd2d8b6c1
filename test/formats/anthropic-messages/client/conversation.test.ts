import type { JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { UserPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

function parse(body: JsonObject) {
  const { warnings } = contexts(anthropicTranslator)
  return { ...anthropicTranslator.parseRequest({ model: 'claude', ...body }, { warnings }), warnings: warnings.list() }
}

const turns = suite('Messages request turns')

const user = (...content: UserPart[]): Turn => ({ role: 'user', content })
const text = (value: string) => ({ type: 'text', text: value }) as const
const result = (id: string, fields: object = {}) => ({ type: 'tool_result', tool_use_id: id, ...fields })
const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const cache = { ttl: '1h' } as const

const conversations: Record<string, [body: JsonObject, turns: Turn[]]> = {
  'a string': [{ messages: [{ role: 'user', content: 'q' }] }, [user(text('q'))]],
  'a system string': [
    { system: 's', messages: [{ role: 'user', content: 'q' }] },
    [{ role: 'system', sentAs: 'instructions', content: [text('s')] }, user(text('q'))],
  ],
  'separate system blocks': [
    { system: [{ ...text('a'), ...mark }, text('b')], messages: [{ role: 'user', content: 'q' }] },
    [
      { role: 'system', sentAs: 'instructions', content: [{ ...text('a'), cache }] },
      { role: 'system', sentAs: 'instructions', content: [text('b')] },
      user(text('q')),
    ],
  ],
  'a late system message': [
    {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'system', content: [text('s')] },
      ],
    },
    [user(text('q')), { role: 'system', sentAs: 'system', content: [text('s')] }],
  ],
  "results followed by the user's text": [
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }] },
        {
          role: 'user',
          content: [text('so?'), result('a', { content: 'r' }), result('b', { is_error: true, ...mark })],
        },
      ],
    },
    [
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' }] },
      {
        role: 'tool',
        results: [
          { callId: 'a', content: [text('r')] },
          { callId: 'b', content: [], isError: true, cache },
        ],
      },
      user(text('so?')),
    ],
  ],
  'results in consecutive messages': [
    {
      messages: [
        { role: 'user', content: [result('a')] },
        { role: 'user', content: [result('b')] },
      ],
    },
    [
      {
        role: 'tool',
        results: [
          { callId: 'a', content: [] },
          { callId: 'b', content: [] },
        ],
      },
    ],
  ],
}

for (const [name, [body, expected]] of Object.entries(conversations)) {
  turns(`parses turns with ${name}`, () => assert.equal(parse(body).turns, expected))
}

const PNG = 'iVBORw0KGgoAAAANSUhEUg=='
const output: Record<string, [block: JsonObject, part: UserPart]> = {
  'a base64 image': [
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } },
    { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: PNG } },
  ],
  'an image URL': [
    { type: 'image', source: { type: 'url', url: 'https://a' }, ...mark },
    { type: 'image', source: { type: 'url', url: 'https://a' }, cache },
  ],
  'an image by file ID': [
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    { type: 'image', source: { type: 'file-id', id: 'file_1', format: 'anthropic-messages' } },
  ],
  'a PDF with all its fields': [
    {
      ...{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' } },
      ...{ title: 't', context: 'c', citations: { enabled: true } },
    },
    {
      ...{ type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0x' } },
      ...{ name: 't', context: 'c', citable: true },
    },
  ],
  'a text document': [
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: null },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'x' } },
  ],
  'a document made of blocks': [
    { type: 'document', source: { type: 'content', content: [text('x'), text('y')] } },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'x\n\ny' } },
  ],
  'a search result': [
    { type: 'search_result', source: 'https://a', title: 'A', content: [text('x')], citations: { enabled: true } },
    { type: 'search-result', source: 'https://a', title: 'A', content: [text('x')], citable: true },
  ],
}

const parts = suite('user and tool content in a Messages request')

for (const [name, [block, part]] of Object.entries(output)) {
  parts(`parses ${name}`, () => {
    assert.equal(parse({ messages: [{ role: 'user', content: [block] }] }).turns, [user(part)])
    assert.equal(parse({ messages: [{ role: 'user', content: [result('a', { content: [block] })] }] }).turns, [
      { role: 'tool', results: [{ callId: 'a', content: [part] }] },
    ])
  })
}

parts('a tool reference becomes text', () => {
  const content = [result('a', { content: [{ type: 'tool_reference', tool_name: 'f' }] })]
  const { turns, warnings } = parse({ messages: [{ role: 'user', content }] })
  assert.equal(turns, [{ role: 'tool', results: [{ callId: 'a', content: [text('f')] }] }])
  assert.equal(warnings, ['replaced:messages[0].content[0].content[0]'])
})
