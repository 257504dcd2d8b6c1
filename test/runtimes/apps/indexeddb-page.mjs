// Runs tests of the conformance suite in this page, in its service worker, or in both at once; and what the tests of the adapter do in a page.
import { indexeddbStorage } from '../../../adapters/storage/indexeddb.ts'
import { setElsewhere } from '../indexeddb/conformance.ts'
import { runTest } from '../indexeddb/run.ts'

async function ask(message) {
  const { active } = await navigator.serviceWorker.ready
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data: { result, error } }) => {
      port1.close()
      error ? reject(Object.assign(new Error(error.message), { code: error.code })) : resolve(result)
    }
    active.postMessage(message, [port2])
  })
}

setElsewhere((call) => ask({ call }))

/** Settles as a request of IndexedDB does. */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** What a test has opened here. */
const opened = {}

globalThis.actions = {
  register: () =>
    navigator.serviceWorker
      .register('/worker.js')
      .then(() => navigator.serviceWorker.ready)
      .then(() => {}),
  page: (title) => runTest(`alone storage › ${title}`),
  worker: (title) => ask({ test: `alone storage › ${title}` }),
  both: (title) => runTest(`shared storage › ${title}`),
  memory: (title) => runTest(`memory storage › ${title}`),

  /** Opens a storage, and records what its watch reports. */
  open(name) {
    opened.storage = indexeddbStorage({ name })
    opened.received = []
    opened.storage.watch(
      (key) => opened.received.push(key),
      () => opened.received.push('gap'),
    )
  },

  received: () => opened.received,

  /** What a method answers, or its error. */
  call: (method, ...args) =>
    opened.storage[method](...args).then(
      (result) => ({ result }),
      ({ name, code, message }) => ({ name, code, message }),
    ),

  /** Opens a database as another program does, one that never lets go of it. */
  async hold(name, version, stores = []) {
    const request = indexedDB.open(name, version)
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store)
    }
    opened.database = await settled(request)
  },

  release: () => opened.database.close(),

  /** Keeps a transaction going until `leave` is called; resolves once it has begun. */
  async occupy() {
    const records = opened.database.transaction('records', 'readwrite').objectStore('records')
    opened.isOver = false
    const turn = () => {
      const request = records.get('')
      request.onsuccess = () => opened.isOver || turn()
      return request
    }
    const first = turn()
    await new Promise((resolve) => first.addEventListener('success', resolve))
  },

  leave() {
    opened.isOver = true
  },

  /** Empties the log of changes but for one entry, as if thousands had been added to it. */
  cutLog(key) {
    const changes = opened.database.transaction('changes', 'readwrite').objectStore('changes')
    changes.clear()
    return settled(changes.add({ key, writer: 'another' }))
  },

  /** Writes what no gateway does: values of any kind under texts, and keys of other types. */
  plant() {
    const records = opened.database.transaction('records', 'readwrite').objectStore('records')
    const loop = {}
    loop.loop = loop
    const values = {
      text: 'text',
      number: 5,
      blank: null,
      none: undefined,
      loop,
      large: 5n,
      date: new Date(0),
      row: { value: 5 },
    }
    for (const [key, value] of Object.entries(values)) records.put(value, `foreign/${key}`)
    for (const key of [5, new Date(0), new Uint8Array([1]), ['key']]) records.put('value', key)
    return settled(records.put({ value: 'of a gateway', version: '1' }, 'foreign/last'))
  },

  count: (store) => settled(opened.database.transaction(store).objectStore(store).count()),

  /** Begins a deletion; answers whether another tab keeps it from happening. */
  remove: (name) =>
    new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name)
      request.onsuccess = () => resolve('deleted')
      request.onblocked = () => resolve('blocked')
      request.onerror = () => reject(request.error)
    }),

  names: () => indexedDB.databases().then((databases) => databases.map(({ name }) => name)),

  /** From now on this page announces nothing, as one that is killed between its write and its word of it. */
  silence() {
    BroadcastChannel.prototype.postMessage = () => {}
  },

  /** How reading the secret fails in each of the ways to do it. */
  async exports() {
    const key = await opened.storage.ownSecret()
    const info = new Uint8Array(0)
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: info, info }
    const tries = {
      raw: () => crypto.subtle.exportKey('raw', key),
      jwk: () => crypto.subtle.exportKey('jwk', key),
      bits: () => crypto.subtle.deriveBits(hkdf, key, 256),
    }
    const results = await Promise.all(
      Object.entries(tries).map(async ([way, read]) => [
        way,
        await read().then(
          () => 'was read',
          ({ name }) => name,
        ),
      ]),
    )
    return Object.fromEntries(results)
  },
}
