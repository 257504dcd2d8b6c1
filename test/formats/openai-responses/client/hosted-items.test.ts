import { assert, suite } from '../../../support/suite.ts'
import { parse } from '../support/parse-request.ts'

const test = suite("items of OpenAI's hosted tools")

const text = (value: string) => ({ type: 'text', text: value })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

/** Items of tools that ran at OpenAI, with the expected text. */
const hosted: [item: object, recorded: string | undefined][] = [
  [
    {
      ...{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'c', code: 'print(1)', status: 'completed' },
      outputs: [{ type: 'logs', logs: '1' }, { type: 'image', url: 'https://a' }, null],
    },
    'code_interpreter(print(1))\n1',
  ],
  [{ type: 'code_interpreter_call', id: 'ci_1', code: null, outputs: null }, 'code_interpreter()'],
  [
    {
      ...{ type: 'file_search_call', id: 'fs_1', queries: ['a', 'b'], status: 'completed' },
      results: [{ file_id: 'f', filename: 'a.txt', score: 1, text: 'words' }],
    },
    'file_search(a, b)\n- a.txt: words',
  ],
  [{ type: 'file_search_call', id: 'fs_1', queries: ['a'], results: null }, 'file_search(a)'],
  [
    { type: 'mcp_call', id: 'm', server_label: 's', name: 'roll', arguments: '{"n":2}', output: '7' },
    'roll({"n":2})\n7',
  ],
  [
    { type: 'mcp_call', id: 'm', server_label: 's', name: 'roll', arguments: '{}', error: { message: 'gone' } },
    'roll({})\ngone',
  ],
  [{ type: 'mcp_list_tools', id: 'm', server_label: 's', tools: [] }, undefined],
]

for (const [item, recorded] of hosted)
  test(`a hosted tool's item becomes text: ${JSON.stringify(item)}`, () => {
    const { turns, warnings } = parse({ input: [user('u'), assistant('I do.'), item, assistant('a')] })
    const output = recorded === undefined ? [text('I do.')] : [text('I do.\n\n'), text(`${recorded}\n\n`)]
    assert.equal(turns, [user([text('u')]), assistant([...output, text('a')])])
    assert.equal(warnings, [`${recorded === undefined ? 'dropped' : 'replaced'}:input[2]`])
  })
