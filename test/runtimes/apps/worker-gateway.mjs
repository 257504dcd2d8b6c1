import { memoryStorage } from 'signalbox/storage/memory'
import { openGateway } from './gateway.mjs'

let opened
const memory = () => {
  opened ??= memoryStorage() // it draws a secret, which workerd allows in a request only
  return opened
}

export default openGateway({
  atomic: true,
  get: (...args) => memory().get(...args),
  set: (...args) => memory().set(...args),
  delete: (...args) => memory().delete(...args),
  list: (...args) => memory().list(...args),
  increment: (...args) => memory().increment(...args),
  ownSecret: () => memory().ownSecret(),
})
