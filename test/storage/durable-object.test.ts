import { durableObjectStorage } from '../../adapters/storage/durable-object.ts'
import { assert, suite } from '../support/suite.ts'

/* This store's conformance suite runs in workerd (see test/services/stores). */

const test = suite('Durable Object storage')

test('a failing Durable Object causes an error with a code and advice on what to check', async () => {
  const failing = { idFromName: () => 1, get: () => ({ fetch: () => Promise.reject(new Error('no class')) }) }
  const error: { code?: string; message?: string } = await durableObjectStorage(failing)
    .get('key')
    .then(
      () => ({}),
      (error) => error,
    )
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message ?? '', /Check that the Worker exports SignalboxStore/)
})

test('durableObjectStorage rejects an invalid namespace with advice on what to pass', () => {
  assert.throws(
    () => Reflect.apply(durableObjectStorage, undefined, []),
    /durableObjectStorage takes a Durable Object namespace/,
  )
})
