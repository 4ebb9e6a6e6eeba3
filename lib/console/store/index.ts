import type { Provider, Type } from '@nestjs/common';
import { StoreMediaType } from './media-type.js';
import { StoreHost } from './store-host.js';
import { StoreController } from './store.controller.js';

export const STORE_CONTROLLERS: Type[] = [StoreController];
export const STORE_PROVIDERS: Provider[] = [StoreHost, StoreMediaType];
