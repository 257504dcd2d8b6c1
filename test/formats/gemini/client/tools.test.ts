import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse } from '../support/parse-request.ts'

const tools = suite('Gemini request tools')

tools('the functions in all entries become tools, in either schema language', () => {
  const { tools: recorded, warnings } = parse({
    tools: [
      { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: { type: 'object', a_b: 1 } }] },
      {
        function_declarations: [
          {
            name: 'g',
            parameters: { type: 'OBJECT', properties: { a_b: { type: 'STRING', nullable: true } } },
            responseJsonSchema: { type: 'string' },
          },
          { name: 'h', behavior: 'BLOCKING' },
        ],
      },
      { googleSearch: { excludeDomains: ['a.com'] } },
    ],
  })
  assert.equal(recorded, [
    { type: 'function', name: 'f', description: 'd', schema: { type: 'object', a_b: 1 } },
    {
      ...{ type: 'function', name: 'g', schema: { type: 'object', properties: { a_b: { type: ['string', 'null'] } } } },
      outputSchema: { type: 'string' },
    },
    { type: 'function', name: 'h' },
    { type: 'web-search', blockedDomains: ['a.com'] },
  ])
  assert.equal(warnings, ['dropped:tools[1].function_declarations[1].behavior'])
})

for (const [calling, expected] of [
  [{}, undefined],
  [{ streamFunctionCallArguments: true }, undefined],
  [{ mode: 'AUTO' }, { type: 'auto' }],
  [{ mode: 'none' }, { type: 'none' }],
  [{ mode: 'ANY' }, { type: 'required' }],
  [
    { mode: 'ANY', allowedFunctionNames: ['f'] },
    { type: 'tool', name: 'f' },
  ],
  [
    { mode: 'any', allowed_function_names: ['f', 'g'] },
    { type: 'allowed', mode: 'required', names: ['f', 'g'] },
  ],
  [{ mode: 'VALIDATED' }, { type: 'auto' }],
  [
    { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    { type: 'allowed', mode: 'auto', names: ['f'] },
  ],
] as [object, CanonicalRequest['toolChoice']][])
  tools(`parses the tool choice from ${JSON.stringify(calling)}`, () =>
    assert.equal(parse({ toolConfig: { functionCallingConfig: calling } }).toolChoice, expected),
  )
