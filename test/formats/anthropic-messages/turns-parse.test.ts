import { messagesTranslator } from '../../../src/formats/anthropic-messages/translator.ts'
import type { AssistantPart, UserPart } from '../../../src/formats/canonical/parts.ts'
import type { Turn } from '../../../src/formats/canonical/turns.ts'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

function parse(body: JsonObject, version?: string) {
  const { warnings } = contexts(messagesTranslator)
  const context = version === undefined ? { warnings } : { warnings, version }
  const request = messagesTranslator.parseRequest({ model: 'claude', max_tokens: 9, messages: [], ...body }, context)
  return { ...request, warnings: warnings.list() }
}

/** What is refused names the field. */
function _refusal(body: JsonObject, version?: string): unknown {
  try {
    parse(body, version)
  } catch (error) {
    const { data, status } = Object(error)
    assert.is(status, 400)
    return isObject(data) ? data.param : undefined
  }
  return 'not refused'
}

const turns = suite('turns of a client of messages')

const user = (...content: UserPart[]): Turn => ({ role: 'user', content })
const text = (said: string) => ({ type: 'text', text: said }) as const
const result = (id: string, fields: object = {}) => ({ type: 'tool_result', tool_use_id: id, ...fields })
const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const cache = { ttl: '1h' } as const

const conversations: Record<string, [body: JsonObject, turns: Turn[]]> = {
  'a string': [{ messages: [{ role: 'user', content: 'q' }] }, [user(text('q'))]],
  'a system string': [
    { system: 's', messages: [{ role: 'user', content: 'q' }] },
    [{ role: 'system', as: 'instructions', content: [text('s')] }, user(text('q'))],
  ],
  'system blocks, each on its own': [
    { system: [{ ...text('a'), ...mark }, text('b')], messages: [{ role: 'user', content: 'q' }] },
    [
      { role: 'system', as: 'instructions', content: [{ ...text('a'), cache }] },
      { role: 'system', as: 'instructions', content: [text('b')] },
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
    [user(text('q')), { role: 'system', as: 'system', content: [text('s')] }],
  ],
  'results, then what the user says to them': [
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
  'results in messages that follow each other': [
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
  turns(`are understood: ${name}`, () => assert.equal(parse(body).turns, expected))
}

const PNG = 'iVBORw0KGgoAAAANSUhEUg=='
const said: Record<string, [block: JsonObject, part: UserPart]> = {
  'an image, by its bytes': [
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } },
    { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: PNG } },
  ],
  'an image, by its address': [
    { type: 'image', source: { type: 'url', url: 'https://a' }, ...mark },
    { type: 'image', source: { type: 'url', url: 'https://a' }, cache },
  ],
  'an image, by its id': [
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    { type: 'image', source: { type: 'file-id', id: 'file_1', format: 'anthropic-messages' } },
  ],
  'a PDF with all that is said of it': [
    {
      ...{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' } },
      ...{ title: 't', context: 'c', citations: { enabled: true } },
    },
    {
      ...{ type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0x' } },
      ...{ name: 't', context: 'c', citable: true },
    },
  ],
  'a text as a document': [
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: null },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'x' } },
  ],
  'a document of blocks': [
    { type: 'document', source: { type: 'content', content: [text('x'), text('y')] } },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'x\n\ny' } },
  ],
  'a search result': [
    { type: 'search_result', source: 'https://a', title: 'A', content: [text('x')], citations: { enabled: true } },
    { type: 'search-result', source: 'https://a', title: 'A', content: [text('x')], citable: true },
  ],
}

const parts = suite('what users and tools say')

for (const [name, [block, part]] of Object.entries(said)) {
  parts(`is understood: ${name}`, () => {
    assert.equal(parse({ messages: [{ role: 'user', content: [block] }] }).turns, [user(part)])
    assert.equal(parse({ messages: [{ role: 'user', content: [result('a', { content: [block] })] }] }).turns, [
      { role: 'tool', results: [{ callId: 'a', content: [part] }] },
    ])
  })
}

parts('a tool that was found is text', () => {
  const content = [result('a', { content: [{ type: 'tool_reference', tool_name: 'f' }] })]
  const { turns, warnings } = parse({ messages: [{ role: 'user', content }] })
  assert.equal(turns, [{ role: 'tool', results: [{ callId: 'a', content: [text('f')] }] }])
  assert.equal(warnings, ['replaced:messages[0].content[0].content[0]'])
})

const history = suite('what the model said before')

const own = { format: 'anthropic-messages', account: '' } as const
const blocks: Record<string, [blocks: JsonObject[], parts: AssistantPart[]]> = {
  'signed thoughts': [
    [{ type: 'thinking', thinking: 'hm', signature: 's' }],
    [{ type: 'reasoning', text: 'hm', state: { origin: own, kind: 'signature', data: 's' } }],
  ],
  'a signature without thoughts': [
    [{ type: 'thinking', thinking: '', signature: 's' }],
    [{ type: 'reasoning', text: '', state: { origin: own, kind: 'signature', data: 's' } }],
  ],
  'thoughts without a signature': [
    [{ type: 'thinking', thinking: 'hm', signature: '' }],
    [{ type: 'reasoning', text: 'hm' }],
  ],
  'thoughts with neither': [[{ type: 'thinking', thinking: '', signature: '' }], []],
  'thoughts that nobody may read': [
    [{ type: 'redacted_thinking', data: 'r' }],
    [{ type: 'reasoning', text: '', state: { origin: own, kind: 'redacted', data: 'r' } }],
  ],
  'a text that cites': [
    [
      {
        ...text('a'),
        citations: [
          { type: 'char_location', cited_text: 'q', document_index: 0, start_char_index: 1, end_char_index: 2 },
        ],
      },
    ],
    [{ ...text('a'), citations: [{ quote: 'q', document: 0, place: { unit: 'character', start: 1, end: 2 } }] }],
  ],
  'a search of its own': [
    [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'cats' } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [{ url: 'https://a', title: 'A' }] },
    ],
    [{ type: 'server-tool', tool: 'web-search', id: 's', query: 'cats', results: [{ url: 'https://a', title: 'A' }] }],
  ],
  'code that ran at Anthropic, as text': [
    [
      { type: 'server_tool_use', id: 's', name: 'bash_code_execution', input: { command: 'ls' } },
      {
        ...{ type: 'bash_code_execution_tool_result', tool_use_id: 's' },
        content: { type: 'bash_code_execution_result', stdout: 'a.txt', stderr: '', return_code: 0, content: [] },
      },
    ],
    [text('bash_code_execution(command: ls)'), text('a.txt')],
  ],
  'a page that was fetched, without what is encrypted': [
    [
      {
        ...{ type: 'web_fetch_tool_result', tool_use_id: 's' },
        content: {
          ...{ type: 'web_fetch_result', url: 'https://a', encrypted_content: 'x' },
          content: { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
        },
      },
    ],
    [text('https://a\nT\nwords')],
  ],
  'a summary of what came before': [[{ type: 'compaction', content: 'sum' }], [text('sum')]],
  'a search for tools, which is nothing to others': [
    [
      { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: { query: 'x' } },
      { type: 'tool_search_tool_result', tool_use_id: 's', content: { tool_references: [{ tool_name: 'f' }] } },
    ],
    [],
  ],
}

for (const [name, [content, expected]] of Object.entries(blocks)) {
  history(`is understood: ${name}`, () =>
    assert.equal(parse({ messages: [{ role: 'assistant', content }] }).turns, [
      { role: 'assistant', content: expected },
    ]),
  )
}

history('a search that has found nothing yet is told as a loss', () => {
  const content = [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'cats' } }]
  const { turns, warnings } = parse({ messages: [{ role: 'assistant', content }] })
  assert.equal(turns, [{ role: 'assistant', content: [] }])
  assert.equal(warnings, ['dropped:messages[0].content[0]'])
})
