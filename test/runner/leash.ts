import { Socket } from 'node:net'

/*
 * A separate thread in each worker that ends the process as soon as its parent is gone. A test that blocks the event loop would never notice that.
 * The runner writes nothing to this pipe, which closes when the runner ends in any way.
 */

const LEASH = 4

new Socket({ fd: LEASH }).resume().on('close', () => process.kill(process.pid, 'SIGKILL'))
