import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { getBound } from '../../src/protocols/kinds/request-bounds.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('request bounds')

test('every non-chat operation has its own bound', () => {
  const operations = new Map(endpoints.map((endpoint) => [endpoint.operation.name, endpoint]))
  operations.delete('generate')
  assert.ok(operations.size >= 13, [...operations.keys()].join())
  const unbounded = [...operations].filter(([, endpoint]) => Object.keys(getBound(endpoint)).length === 0)
  assert.equal(
    unbounded.map(([name]) => name),
    [],
  )
})

test('only chats and completions can limit their output', () => {
  const limited = new Set(endpoints.filter(({ limitsOutput }) => limitsOutput).map(({ operation }) => operation.name))
  assert.equal([...limited].sort(), ['complete', 'generate'])
  const unlimited = endpoints.filter(({ operation, limitsOutput }) => operation.name === 'generate' && !limitsOutput)
  assert.equal(unlimited, [])
})
