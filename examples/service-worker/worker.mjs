// A gateway for the pages of one origin. README.md says how to bundle and serve it.
import { createGateway } from 'signalbox'
import { toServiceWorkerHandler } from 'signalbox/service-worker'
import { memoryStorage } from 'signalbox/storage/memory'

// Only scripts of this origin reach a worker: they may manage the gateway, and they bring its providers.
const management = { authorize: () => true }
const gateway = createGateway({ storage: memoryStorage(), basePath: '/ai', management })

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', toServiceWorkerHandler(gateway))
