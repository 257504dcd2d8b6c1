import { serveBun } from '../../adapters/mount/bun.ts'
import { serveDeno } from '../../adapters/mount/deno.ts'
import { toExpressHandler } from '../../adapters/mount/express.ts'
import { toLambdaHandler } from '../../adapters/mount/lambda.ts'
import { createNodeFetch, serveNode, toNodeHandler } from '../../adapters/mount/node.ts'
import { toServiceWorkerHandler } from '../../adapters/mount/service-worker.ts'
import { toWorkersHandler } from '../../adapters/mount/workers.ts'
import { assert, suite } from '../support/suite.ts'
import { stubGateway } from './node/lab.ts'

const test = suite('adapter options')

const gateway = { ...stubGateway(() => undefined), fetch: async () => new Response() }
const mounts = {
  serveNode,
  toNodeHandler,
  toExpressHandler,
  serveBun,
  serveDeno,
  toLambdaHandler,
  toServiceWorkerHandler,
  toWorkersHandler,
}

/** Calls an adapter with arbitrary arguments, like a caller without types. */
const call = async (name: keyof typeof mounts, ...input: unknown[]) => {
  const response: unknown = await Promise.resolve()
    .then(() => Reflect.apply(mounts[name], undefined, input))
    .catch((error: unknown) => error)
  return response instanceof TypeError ? response.message : 'no TypeError'
}

const rejected: Array<[name: keyof typeof mounts, options: unknown, says: string]> = [
  [
    'serveNode',
    { host: '::' },
    'host is not an option. Known: port, hostname, allowedHosts, hostAdvice, upstream, identify.',
  ],
  [
    'serveNode',
    { prot: 1 },
    'prot is not an option. Known: port, hostname, allowedHosts, hostAdvice, upstream, identify.',
  ],
  ['serveNode', { allowedHosts: 'a.example' }, 'allowedHosts must be an array of host names.'],
  ['serveNode', { allowedHosts: [1] }, 'allowedHosts must be an array of host names.'],
  ['serveNode', { port: 'abc' }, 'port must be a whole number from 0 to 65535, 0 for any free one.'],
  ['serveNode', { port: '' }, 'port must be a whole number from 0 to 65535, 0 for any free one.'],
  ['serveNode', { port: Number.NaN }, 'port must be a whole number from 0 to 65535, 0 for any free one.'],
  ['serveNode', { port: 65_536 }, 'port must be a whole number from 0 to 65535, 0 for any free one.'],
  ['serveNode', null, 'The options must be an object.'],
  ['serveNode', 4000, 'The options must be an object.'],
  ['toNodeHandler', { fetch: () => {} }, 'fetch is not an option. Known: upstream, identify.'],
  ['toNodeHandler', { upstream: 'x' }, 'upstream must be a function or false.'],
  ['toNodeHandler', { upstream: true }, 'upstream must be a function or false.'],
  ['toExpressHandler', { path: '/ai' }, 'path is not an option. Known: upstream, identify.'],
  ['serveBun', { host: '::' }, 'host is not an option. Known: port, hostname, allowedHosts.'],
  ['serveDeno', { host: '::' }, 'host is not an option. Known: port, hostname, allowedHosts.'],
]
for (const [name, options, message] of rejected) {
  test(`${name} rejects ${JSON.stringify(options)}: ${message}`, async () => {
    assert.is(await call(name, gateway, options), message)
  })
}

for (const name of [
  'serveNode',
  'toNodeHandler',
  'toExpressHandler',
  'serveBun',
  'serveDeno',
  'toLambdaHandler',
  'toServiceWorkerHandler',
] as const) {
  test(`${name} called without a gateway explains how to call it`, async () => {
    for (const none of [undefined, { port: 4000 }, () => new Response()])
      assert.is(
        await call(name, none),
        `${name} takes a gateway as its first argument: ${name}(createGateway({ storage })).`,
      )
  })
}

test('toWorkersHandler called with a gateway, or with nothing, explains how to call it', async () => {
  const callable = Object.assign(async () => new Response(), gateway)
  for (const none of [undefined, gateway, callable])
    assert.match(await call('toWorkersHandler', none), /takes a function: toWorkersHandler\(\(env\) => createGateway/)
})

test('createNodeFetch rejects unknown options', () => {
  assert.throws(
    () => Reflect.apply(createNodeFetch, undefined, [{ proxy: 'http://proxy' }]),
    (error: unknown) => String(error) === 'TypeError: proxy is not an option. Known: dispatcher, connect.',
  )
})
