import type { Feature } from '../../src/feature.ts'
import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('invalid features')

const run = () => Response.json({})
const route = (path: string, method = 'GET') => ({ method, path, run })
const area = (path: string, ...routes: object[]) => ({ path, routes })
const operation = (path: string, method = 'GET') => ({ method, path, summary: '', failure: '', output: {}, run })

for (const [title, extend, message] of [
  ['a feature without a name', [{}], /extend\[0\] needs its own "name"/],
  ['two features with the same name', [{ name: 'a' }, { name: 'a' }], /extend\[0\] needs its own "name"/],
  [
    'a feature with the name of a built-in one',
    [{ name: 'limits' }],
    'The gateway already has a feature named "limits". Rename yours.',
  ],
  [
    'a feature with the name and a route of a built-in one',
    [{ name: 'listing', routes: [route('/v1/models')] }],
    'The gateway already has a feature named "listing". Rename yours.',
  ],
  [
    'a feature named like an area',
    [{ name: 'health' }],
    'The gateway already has a feature named "health". Rename yours.',
  ],
  ['a misspelled step', [{ name: 'a', aroundCalls() {} }], /aroundCalls/],
  ['an area without a leading slash', [{ name: 'a', areas: [area('hello')] }], /a path like "\/hello"/],
  ['a route outside its area', [{ name: 'a', areas: [area('/a', route('/b'))] }], /must be below its area/],
  [
    'a route outside /v1',
    [{ name: 'a', routes: [route('/b')] }],
    'The route "/b" must be below /v1 or /v1beta. Put others into "areas".',
  ],
  [
    'an area below /v1',
    [{ name: 'a', areas: [area('/v1/a')] }],
    'The area /v1/a of "a" is hidden by /v1 of "models". Put routes below /v1 and /v1beta into "routes".',
  ],
  [
    'two areas with the same path',
    [
      { name: 'a', areas: [area('/notes')] },
      { name: 'b', areas: [area('/notes')] },
    ],
    'The area /notes of "b" is hidden by /notes of "a". Change the path of one of them.',
  ],
  [
    'an area below another area',
    [
      { name: 'a', areas: [area('/notes')] },
      { name: 'b', areas: [area('/notes/b')] },
    ],
    'The area /notes/b of "b" is hidden by /notes of "a". Change the path of one of them.',
  ],
  [
    'two routes with the same path',
    [
      { name: 'a', routes: [route('/v1/notes/:id')] },
      { name: 'b', routes: [route('/v1/notes/:name')] },
    ],
    'The features "a" and "b" both have the route GET /v1/notes/:. Change one of the paths.',
  ],
  [
    'a duplicate route',
    [{ name: 'a', areas: [area('/a', route('/a'), route('/a'))] }],
    'The feature "a" has the route GET /a twice. Change one of the paths.',
  ],
  [
    'a route in place of the model list',
    [{ name: 'a', routes: [route('/v1/models')] }],
    'The features "listing" and "a" both have the route GET /v1/models. Change one of the paths.',
  ],
  [
    'a route in place of a model endpoint',
    [{ name: 'a', routes: [route('/v1/chat/completions', 'POST')] }],
    'The features "models" and "a" both have the route POST /v1/chat/completions. Change one of the paths.',
  ],
  [
    "operations with the name of another feature's",
    [
      { name: 'a', operations: { notes: { list: operation('/api/a') } } },
      { name: 'b', operations: { notes: { get: operation('/api/b') } } },
    ],
    'The features "a" and "b" both have operations "notes". Rename them in one of the two.',
  ],
  [
    "operations with the path of another feature's",
    [
      { name: 'a', operations: { notes: { get: operation('/api/notes/:id') } } },
      { name: 'b', operations: { memos: { get: operation('/api/notes/:name') } } },
    ],
    'The features "a" and "b" both have the operation GET /api/notes/:. Change one of the paths.',
  ],
  [
    'operations with the name of a built-in resource',
    [{ name: 'a', operations: { keys: { get: operation('/api/a') } } }],
    'The feature "a" can\'t add operations to gateway.api.keys. Rename them.',
  ],
] as const)
  test(`createGateway rejects ${title}`, async () => {
    const reason = await openExtended(extend as unknown as Feature[]).then(
      () => 'created',
      (error: Error) => error,
    )
    assert.instance(reason, TypeError)
    if (typeof message === 'string') assert.is((reason as Error).message, message)
    else assert.match((reason as Error).message, message)
  })

test('features may share a path if their methods differ, and a path prefix if the next letters differ', async () => {
  const { send } = await openExtended([
    { name: 'a', areas: [{ path: '/a', routes: [{ method: 'GET', path: '/a', run }] }] },
    { name: 'b', areas: [{ path: '/ab', routes: [{ method: 'GET', path: '/ab', run }] }] },
    { name: 'c', routes: [{ method: 'GET', path: '/v1/notes', run }] },
    { name: 'd', routes: [{ method: 'POST', path: '/v1/notes', run }] },
  ])
  for (const [method, path] of [
    ['GET', '/a'],
    ['GET', '/ab'],
    ['GET', '/v1/notes'],
    ['POST', '/v1/notes'],
  ] as const)
    assert.is((await send(method, path, method === 'POST' ? {} : undefined)).status, 200)
})
