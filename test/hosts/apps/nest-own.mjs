import { Body, Controller, Post } from '@nestjs/common'

/** A route of the app itself, without decorator syntax, which Node doesn't support. */
export class OwnController {
  own(body) {
    return body
  }
}
Controller()(OwnController)
Post('own')(OwnController.prototype, 'own', Object.getOwnPropertyDescriptor(OwnController.prototype, 'own'))
Body()(OwnController.prototype, 'own', 0)
