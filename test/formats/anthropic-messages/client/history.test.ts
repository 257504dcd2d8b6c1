import type { JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

function parse(body: JsonObject) {
  const { warnings } = contexts(anthropicTranslator)
  return { ...anthropicTranslator.parseRequest({ model: 'claude', ...body }, { warnings }), warnings: warnings.list() }
}

const text = (value: string) => ({ type: 'text', text: value }) as const

const history = suite('earlier responses in a Messages request')

const origin = { format: 'anthropic-messages', account: '' } as const
const blocks: Record<string, [blocks: JsonObject[], parts: AssistantPart[]]> = {
  'signed reasoning': [
    [{ type: 'thinking', thinking: 'hm', signature: 's' }],
    [{ type: 'reasoning', text: 'hm', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'a signature without reasoning text': [
    [{ type: 'thinking', thinking: '', signature: 's' }],
    [{ type: 'reasoning', text: '', state: { origin, kind: 'signature', data: 's' } }],
  ],
  'reasoning without a signature': [
    [{ type: 'thinking', thinking: 'hm', signature: '' }],
    [{ type: 'reasoning', text: 'hm' }],
  ],
  'empty reasoning': [[{ type: 'thinking', thinking: '', signature: '' }], []],
  'redacted reasoning': [
    [{ type: 'redacted_thinking', data: 'r' }],
    [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: 'r' } }],
  ],
  'text with citations': [
    [
      {
        ...text('a'),
        citations: [
          { type: 'char_location', cited_text: 'q', document_index: 0, start_char_index: 1, end_char_index: 2 },
        ],
      },
    ],
    [{ ...text('a'), citations: [{ quote: 'q', document: 0, position: { unit: 'character', start: 1, end: 2 } }] }],
  ],
  'Anthropic’s own web search': [
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
    [text('bash_code_execution(command: ls)\n\n'), text('a.txt')],
  ],
  'a fetched page, without encrypted content': [
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
  'a fetched file, without its data': [
    [
      {
        ...{ type: 'web_fetch_tool_result', tool_use_id: 's' },
        content: { url: 'https://a', content: { type: 'document', source: { type: 'base64', data: 'JVBERi0x' } } },
      },
    ],
    [text('https://a')],
  ],
  'a summary of the conversation': [[{ type: 'compaction', content: 'sum' }], [text('sum')]],
  'a tool search, which is dropped': [
    [
      { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: { query: 'x' } },
      { type: 'tool_search_tool_result', tool_use_id: 's', content: { tool_references: [{ tool_name: 'f' }] } },
    ],
    [],
  ],
}

for (const [name, [content, expected]] of Object.entries(blocks)) {
  history(`parses ${name} in an earlier response`, () =>
    assert.equal(parse({ messages: [{ role: 'assistant', content }] }).turns, [
      { role: 'assistant', content: expected },
    ]),
  )
}

history('a web search without results causes a warning', () => {
  const content = [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'cats' } }]
  const { turns, warnings } = parse({ messages: [{ role: 'assistant', content }] })
  assert.equal(turns, [{ role: 'assistant', content: [] }])
  assert.equal(warnings, ['dropped:messages[0].content[0]'])
})
