// Bundled, and registered by a page: navigator.serviceWorker.register('/worker.js', { type: 'module' })
import { createGateway } from 'signalbox'
import { toServiceWorkerHandler } from 'signalbox/service-worker'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage(), basePath: '/ai' })
addEventListener('fetch', toServiceWorkerHandler(gateway))
