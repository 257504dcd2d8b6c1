import { Body, Controller, Post } from '@nestjs/common'

/** A route of the app itself, without the syntax of decorators, which Node does not know. */
export class OwnController {
  own(body) {
    return body
  }
}
Controller()(OwnController)
Post('own')(OwnController.prototype, 'own', Object.getOwnPropertyDescriptor(OwnController.prototype, 'own'))
Body()(OwnController.prototype, 'own', 0)
