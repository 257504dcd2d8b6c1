// A gateway and its dashboard for the pages of one origin.
import { createGateway } from 'signalbox'
import { dashboard } from 'signalbox/dashboard'
import { toServiceWorkerHandler } from 'signalbox/service-worker'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({
  storage: memoryStorage(),
  basePath: '/ai',
  management: { authorize: () => true },
  dashboard: dashboard(),
})

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', toServiceWorkerHandler(gateway))
