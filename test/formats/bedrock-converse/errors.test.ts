import { bedrockConverse } from '../../../src/protocols/formats/bedrock-converse/converse-format.ts'
import { converseTranslator } from '../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { loadResponseReader } from '../../../src/protocols/formats/format.ts'
import { operations } from '../../../src/protocols/formats/model-operations.ts'
import { assert, suite } from '../../support/suite.ts'

const reader = await loadResponseReader(bedrockConverse, operations.generate)

const test = suite('Converse errors')

const parse = (status: number, body: unknown, type?: string) =>
  converseTranslator.parseError({
    status,
    body,
    nowMs: 0,
    header: (name) => (name === 'x-amzn-errortype' ? type : undefined),
  })

/** A response's status, body, and type, with the expected error. */
const cases: [status: number, body: unknown, type: string | undefined, error: object][] = [
  [
    400,
    { message: 'The provided model identifier is invalid.' },
    'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/',
    {
      kind: 'bad-request',
      status: 400,
      message: 'The provided model identifier is invalid.',
      code: 'ValidationException',
    },
  ],
  [
    400,
    { message: 'The model returned the following errors: Input Tokens Exceeded: too many' },
    'ValidationException',
    {
      kind: 'context-overflow',
      status: 400,
      message: 'The model returned the following errors: Input Tokens Exceeded: too many',
      code: 'context_length_exceeded',
    },
  ],
  [
    400,
    { message: 'Input is too long for requested model.' },
    undefined,
    {
      kind: 'context-overflow',
      status: 400,
      message: 'Input is too long for requested model.',
      code: 'context_length_exceeded',
    },
  ],
  [
    429,
    { Message: 'Too many requests' },
    'ThrottlingException',
    { kind: 'rate-limit', status: 429, message: 'Too many requests', code: 'ThrottlingException' },
  ],
  [503, '<html>', undefined, { kind: 'overloaded', status: 503, message: 'The provider returned status 503.' }],
]

for (const [status, body, type, error] of cases) {
  test(`parses the error ${status} ${JSON.stringify(body)}`, () => assert.equal(parse(status, body, type), error))
}

test("a Converse body with an error, or without content, isn't parsed as a response", () => {
  assert.equal(reader.getError({ message: 'broken' }), {
    message: 'broken',
    status: 502,
    error: { message: 'broken' },
  })
  assert.throws(
    () =>
      converseTranslator.parseResponse(
        {},
        {
          origin: { format: 'bedrock-converse', account: '' },
          traits: converseTranslator.traits,
          newId: () => '',
          responseWarnings: undefined as never,
        },
      ),
    /without content/,
  )
})
