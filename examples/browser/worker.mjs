// A gateway for the pages of one origin, which stores its data in the browser. README.md explains how to bundle and serve it.
import { createGateway } from 'signalbox'
import { toServiceWorkerHandler } from 'signalbox/service-worker'
import { indexeddbStorage } from 'signalbox/storage/indexeddb'

// Only scripts from this origin can reach the worker, so they can manage the gateway and configure its providers.
const management = { authorize: () => true }
const gateway = createGateway({ storage: indexeddbStorage(), basePath: '/ai', management })

/** The files that the app needs to start offline. */
const files = ['./', 'page.mjs']
const keepFiles = async () => (await caches.open('app')).addAll(files)

addEventListener('install', (event) => {
  skipWaiting()
  event.waitUntil(keepFiles())
})
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', toServiceWorkerHandler(gateway))
// This listener doesn't see requests that the gateway has handled.
addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return
  const kept = async () => (await caches.match(request, { ignoreSearch: true })) ?? Response.error()
  event.respondWith(fetch(request).catch(kept))
})
