import type { Tool, ToolChoice } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { assert, suite } from '../../../support/suite.ts'
import { send } from '../support/write-request.ts'

const tools = suite('tools for a Gemini provider')

const f: Tool = {
  type: 'function',
  name: 'f',
  description: 'd',
  schema: { type: 'object', properties: { a: { type: 'string', minLength: 1, contentEncoding: 'x' } } },
}

tools('functions share one entry, with unchanged JSON Schema', () => {
  const without: Tool[] = [
    { type: 'function', name: 'g' },
    { type: 'function', name: 'h', schema: {} },
  ]
  const { body } = send({ tools: [f, ...without, { type: 'web-search' }] })
  const declared = { name: 'f', description: 'd', parametersJsonSchema: f.schema }
  assert.equal(body.tools, [{ functionDeclarations: [declared, { name: 'g' }, { name: 'h' }] }, { googleSearch: {} }])
})

tools("an older target gets Google's own schema language, and dropped keywords are reported", () => {
  const { body, warnings } = send(
    { tools: [f, { type: 'function', name: 'g', schema: { type: 'object', properties: {} } }] },
    { schema: 'openapi' },
  )
  const parameters = { type: 'OBJECT', properties: { a: { type: 'STRING', minLength: 1 } } }
  assert.equal(body.tools, [{ functionDeclarations: [{ name: 'f', description: 'd', parameters }, { name: 'g' }] }])
  assert.equal(warnings, ['dropped:tools.f.properties.a.contentEncoding'])
})

tools('a web search limited to domains is rejected, and other unsupported options cause warnings', () => {
  const search = (fields: object) => send({ tools: [{ type: 'web-search', ...fields }] })
  assert.throws(() => search({ allowedDomains: ['a.com'] }), /certain domains/)
  assert.equal(search({ maxUses: 1 }).warnings, ['dropped:tools.maxUses'])
  assert.equal(search({ blockedDomains: ['a.com'] }).body.tools, [{ googleSearch: { excludeDomains: ['a.com'] } }])
})

for (const [choice, expected] of [
  [{ type: 'auto' }, { mode: 'AUTO' }],
  [{ type: 'none' }, { mode: 'NONE' }],
  [{ type: 'required' }, { mode: 'ANY' }],
  [
    { type: 'tool', name: 'f' },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
  [
    { type: 'allowed', mode: 'required', names: ['f'] },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
  [
    { type: 'allowed', mode: 'auto', names: ['f'] },
    { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
  ],
] as [ToolChoice, object][])
  tools(`writes the tool choice ${JSON.stringify(choice)}`, () => {
    assert.equal(send({ tools: [f], toolChoice: choice }).body.toolConfig, { functionCallingConfig: expected })
  })

tools('the tool choice is omitted if the only tool is a web search', () => {
  const search: Tool = { type: 'web-search' }
  assert.is(send({ tools: [search], toolChoice: { type: 'auto' } }).body.toolConfig, undefined)
  const { body, warnings } = send({ tools: [search], toolChoice: { type: 'required' } })
  assert.is(body.toolConfig, undefined)
  assert.equal(warnings, ['dropped:toolConfig.functionCallingConfig'])
})

tools('a request with functions and a web search asks the provider to report searches', () => {
  const both: Tool[] = [f, { type: 'web-search' }]
  const result = { includeServerSideToolInvocations: true }
  assert.equal(send({ tools: both }).body.toolConfig, result)
  for (const [choice, mode] of [
    ['auto', 'VALIDATED'],
    ['required', 'ANY'],
  ] as const)
    assert.equal(send({ tools: both, toolChoice: { type: choice } }).body.toolConfig, {
      functionCallingConfig: { mode },
      ...result,
    })
  assert.is(send({ tools: both }, { reportsSearches: false }).body.toolConfig, undefined)
})
