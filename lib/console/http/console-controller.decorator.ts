import { Injectable } from '@nestjs/common';

/**
 * Marks a controller of the console. To Nest it is a provider: the console's own router gives it requests, so that global
 * guards, interceptors, pipes and filters of the application, its OpenAPI document and its log of routes never see it.
 */
export function ConsoleController(): ClassDecorator {
  return Injectable();
}
