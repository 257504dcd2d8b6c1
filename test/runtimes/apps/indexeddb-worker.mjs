// Runs conformance tests in a service worker, or actions requested by tests on a page.
import { respond } from '../indexeddb/conformance.ts'
import { runTest } from '../indexeddb/run.ts'

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('message', (event) => {
  const { test, call } = event.data
  const work = test ? runTest(test) : respond(call)
  event.waitUntil(
    work.then(
      (result) => event.ports[0].postMessage({ result }),
      ({ message, code }) => event.ports[0].postMessage({ error: { message, code } }),
    ),
  )
})
