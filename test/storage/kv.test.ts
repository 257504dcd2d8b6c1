import { type KvNamespace, kvStorage } from '../../adapters/storage/kv.ts'
import { assert, suite } from '../support/suite.ts'

/* This store's conformance suite runs in workerd (see test/services/stores). */

const test = suite('Workers KV storage')

test('a failing KV namespace causes an error with a code and advice', async () => {
  const fail = () => Promise.reject(new Error('KV GET failed: 429'))
  const failing: KvNamespace = { getWithMetadata: fail, put: fail, delete: fail, list: fail }
  const error: { code?: string; message?: string } = await kvStorage(failing)
    .get('key')
    .then(
      () => ({}),
      (error) => error,
    )
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message ?? '', /one write per second/)
})

test('kvStorage rejects an invalid namespace with advice on what to pass', () => {
  assert.throws(() => Reflect.apply(kvStorage, undefined, []), /kvStorage takes a KV namespace/)
})
