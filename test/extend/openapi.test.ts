import type { Feature } from '../../src/feature.ts'
import { describedOperations } from '../openapi/description.ts'
import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('features in the OpenAPI document')

const run = () => Response.json({})

/** A feature with routes in an area and next to the model endpoints. */
const notes: Feature = {
  name: 'notes',
  areas: [
    {
      path: '/notes',
      routes: [
        {
          method: 'POST',
          path: '/notes',
          summary: 'Write a note',
          run: async (request) => Response.json(await request.json()),
        },
        { method: 'DELETE', path: '/notes/:id', isRecorded: false, run },
        { method: 'OPTIONS', path: '/notes', isRecorded: false, run },
      ],
    },
    { path: '/callback', serve: async () => ({ status: 204, headers: {} }) },
  ],
  routes: [
    { method: 'GET', path: '/v1/notes/:id', run },
    { method: 'GET', path: '/v1/files/:path+', summary: 'Read a file', run },
  ],
}

test("the OpenAPI document contains a feature's routes in areas and below /v1", async () => {
  const { gateway } = await openExtended([notes])
  const document = await gateway.api.openapi()
  const added = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, summary, tags }]) =>
      JSON.stringify(tags) === '["notes"]' ? [[method, path, operationId, summary]] : [],
    ),
  )
  assert.equal(added, [
    ['post', '/notes', 'postNotes', 'Write a note'],
    ['options', '/notes', 'optionsNotes', '/notes'],
    ['delete', '/notes/{id}', 'deleteNotesId', '/notes/:id'],
    ['get', '/v1/notes/{id}', 'getV1NotesId', '/v1/notes/:id'],
    ['get', '/v1/files/{path}', 'getV1FilesPath', 'Read a file'],
  ])
  assert.equal(
    document.tags?.filter(({ name }) => name === 'notes'),
    [{ name: 'notes', description: 'Added by a feature.' }],
  )
  assert.equal(document.paths['/notes']?.options?.security, [])
})

test('every feature route in the document responds with a documented status', async () => {
  const { gateway, send, addKey } = await openExtended([notes])
  const limited = await addKey('limited', { requests: { day: 1 } })
  const routes = describedOperations(await gateway.api.openapi()).filter(({ path }) => /notes|files/.test(path))
  assert.is(routes.length, 5)
  for (const { method, path, statuses } of routes)
    for (const key of [undefined, 'none', limited])
      for (const body of method === 'POST' ? [{}, undefined] : [undefined]) {
        const { status } = await send(method, path.replace(/\{\w+\}/, 'x'), body, key)
        assert.ok(status < 500, `${status}`)
        assert.ok(statuses.includes(`${status}`), `${method} ${path}: ${status}`)
      }
})
